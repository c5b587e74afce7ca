#!/usr/bin/env python3
"""Writes docs/results/exercises.md: what skeletons, solutions, other programs and hunts score, and how long a
student waits from a save to a verdict.

usage: record.py BUILD [GPU.json]

BUILD is a build folder whose exercises' checks are built (meson test -C BUILD exercises-all). GPU.json is what
course_test.py --on gpu --table wrote on a machine with a GPU, with its name added as "machine"; without it the
part that is there stays."""
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "results" / "exercises.md"
GPU_PART = "## On a GPU"


def table_of(test, build):
    """The rows that a test writes once it has passed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([sys.executable, ROOT / "tests" / "exercises" / test, build / "tests/exercises",
                               "--table", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{test} has not passed:\n{done.stdout}")
        return json.loads(pathlib.Path(file.name).read_text())["rows"]


def wait_of(build, exercise):
    """Seconds from a save of the solution to its verdict: compiled, then judged, nothing else running."""
    words = json.loads((build / "common/exercise/compilers.json").read_text())["words"]
    source = ROOT / "solutions" / exercise / (exercise[3:] + ".cu")
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "yours")
        names = {"{source}": str(source), "{program}": program}
        start = time.monotonic()
        subprocess.run([names.get(word, word) for word in words], check=True)
        compiled = time.monotonic()
        subprocess.run([build / "exercises" / f"check-{exercise}", "--program", program, "--source",
                        str(source)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return compiled - start, time.monotonic() - compiled


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def gpu_part(path):
    results = json.loads(pathlib.Path(path).read_text())
    text = (f"{GPU_PART}\n\n{results['machine']}, {results['date']}, `{results['command']}`: nothing is counted there; "
            "solutions and other right programs are judged by their outputs, and timed.\n\n")
    return text + markdown(["exercise", "program", "a call, the median of nine rounds (least to most)"],
                           [(row["exercise"], row["program"], row.get("time", "not timed")) for row in results["rows"]])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    programs = table_of("course_test.py", build)
    hunts = table_of("hunts_test.py", build)
    names = sorted({row["exercise"] for row in programs})
    waits = {name: wait_of(build, name) for name in names}
    totals = [sum(wait) for wait in waits.values()]
    gpu = gpu_part(sys.argv[2]) if len(sys.argv) == 3 else ""
    if not gpu and PAGE.exists():
        old = PAGE.read_text()
        gpu = old[old.index(GPU_PART):] if GPU_PART in old else ""
    text = f"""# Exercises and hunts: what they score

Written on {datetime.date.today().isoformat()} by `tests/exercises/record.py build`, on {os.cpu_count()} cores, in the simulator.

## From a save to the verdict

The solution compiled and judged, in seconds, with nothing else running: median {statistics.median(totals):.1f}, worst {max(totals):.1f}.

"""
    text += markdown(["exercise", "compiled", "judged", "together"],
                     [(name, f"{a:.1f}", f"{b:.1f}", f"{a + b:.1f}") for name, (a, b) in waits.items()])
    text += """
## Programs

Points of the cases. `skeleton` is what a student begins with, `right_*` are right in another way than the solution, `wrong_*`
have a mistake that is made, and `lazy_*` are correct and safe, but ignore what the exercise is about. Right and lazy ones are
judged with the hidden cases.

"""
    text += markdown(["exercise", "program", "points", "cases that failed"],
                     [(row["exercise"], row["program"], f"{row['points']:g} of {row['most']:g}", "; ".join(row["failed"])) for row in programs])
    text += "\n## Hunts\n\n"
    keys = [key for key in hunts[0] if key != "seconds"]
    text += markdown(keys, [[re.sub(r"[|\n]", " ", "; ".join(row[key]) if isinstance(row[key], list) else str(row[key]))
                             for key in keys] for row in hunts])
    PAGE.write_text(text + ("\n" + gpu if gpu else ""))
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(programs)} programs, {len(hunts)} hunts")


if __name__ == "__main__":
    main()
