"""Stage 01 under a race checker: its steps have no race, and one that is planted is found.

    thread_races_test.py PROGRAM STAGE

PROGRAM is thread_races/races.cpp built with ThreadSanitizer, STAGE the stage's folder, whose steps must
all be in it. Where the checker cannot run, the test says so and ends with 77.
"""

import pathlib
import shutil
import subprocess
import sys

PLANTED = "overlapping_threads"


def run(program, *words):
    """(exit status, what it said), of a run with the addresses that the checker needs."""
    ended = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def usable(program):
    """The words that start the program here; ends the test where there are none."""
    # The checker wants its own part of the address space, which some kernels give away at random.
    attempts = [[program]]
    if shutil.which("setarch"):
        attempts.append(["setarch", "-R", program])
    said = ""
    for attempt in attempts:
        status, said = run(attempt, "--list")
        if status == 0:
            return attempt
    print("NOT RUN: ThreadSanitizer cannot run here:", said.strip().splitlines()[0] if said else "")
    sys.exit(77)


def main():
    if len(sys.argv) != 3:
        print("NOT RUN: this compiler has no ThreadSanitizer (-fsanitize=thread; Debian, Ubuntu: libtsan)")
        return 77
    program = usable(sys.argv[1])
    failed = []

    _, listed = run(program, "--list")
    steps = [name for name in listed.split() if name != PLANTED]
    files = sorted((path.stem for path in pathlib.Path(sys.argv[2]).glob("[0-9]*_*.cpp")),
                   key=lambda name: int(name.split("_")[0]))
    if [name.split("_", 1)[1] for name in files] != steps:
        failed.append(f"the stage has {files}, the program {steps}")

    status, said = run(program, PLANTED)
    if status == 0 or "data race" not in said:
        failed.append(f"the planted race was not found (exit status {status}):\n{said}")
    for step in steps:
        status, said = run(program, step)
        if status != 0 or f"{step}: no race" not in said:
            failed.append(f"{step}: exit status {status}\n{said}")

    for what in failed:
        print("FAIL", what)
    print(f"{1 + len(steps)} programs, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
