#!/usr/bin/env python3
"""Runs the programs that the pages talk about, most of them faulty, and keeps what was said of them.

    docs/results/make_findings.py --simcc build/common/simt/cudart/simcc            write findings.json
    docs/results/make_findings.py --simcc build/common/simt/cudart/simcc --check    exit 1 if it differs

For each program: `compiles`; `status`, how it ended; `said`, the simulator's findings and
refusals, or the first error if it does not compile; `printed`, its own output if nothing was found.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERROR = re.compile(r"^(\S+?)\((\d+)\): (error: .*)$")


def listing(name, file, threads, width):
    """The arguments of simcc for one of the report's listings."""
    return [f"tests/stages/report_listings/{file}.cu", "docs/examples/report_listing.cu", "-I.",
            f"-DLISTING={name}", f"-DTHREADS={threads}", f"-DWIDTH={width}"]


def public_bug(number):
    return ["docs/examples/public_bugs.cu", f"-DBUG={number}"]


FIGURE7B = ["tests/stages/sc16_figure7/figure7b.cu", "docs/examples/sc16_figure7b.cu", "-I."]

# 16 threads are the report's default, 3 taps the mask of its tables.
PROGRAMS = {
    "add_one": ["docs/examples/add_one.cu"],
    "reverse": ["docs/examples/reverse.cu"],
    "code3": ["docs/examples/report_code3.cu", "-c"],
    "code4": listing("code4", "code4", 16, 3),
    "code4_int_tile": listing("code4_int_tile", "code4_int_tile", 16, 3),
    "code4_wide_mask": listing("code4_int_tile", "code4_int_tile", 8, 15),
    "code5": listing("code5", "code5", 16, 3),
    "public_halo": public_bug(1),
    "public_scan": public_bug(2),
    "public_left": public_bug(3),
    "public_reused": public_bug(4),
    "public_copy": public_bug(5),
    "public_grid": public_bug(6),
    "figure7b_16": FIGURE7B + ["-DCHANNELS=16"],
    "figure7b_32": FIGURE7B + ["-DCHANNELS=32"],
}


def relative(text):
    return text.replace(f"{ROOT}/", "")


def limit_processor():
    """A program that never ends takes this much of a processor, on a busy machine too."""
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def run_one(simcc, name, folder):
    program = pathlib.Path(folder) / name
    report = program.with_suffix(".json")
    settings = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    settings |= {"LC_ALL": "C", "SIMT_REPORT": str(report)}
    built = subprocess.run([simcc, *PROGRAMS[name], "-o", str(program)], cwd=ROOT, check=False,
                           capture_output=True, text=True, env=settings)
    if built.returncode != 0:
        errors = [ERROR.match(relative(line)) for line in built.stderr.splitlines()]
        said = [f"{e[1]}:{e[2]}: {e[3]}" for e in errors if e][:1]
        if not said:
            raise RuntimeError(f"{name} does not compile, for no reason of its own:\n{built.stderr}")
        return {"name": name, "compiles": False, "status": None, "said": said, "printed": []}
    if "-c" in PROGRAMS[name]:
        return {"name": name, "compiles": True, "status": None, "said": [], "printed": []}
    ran = subprocess.run([str(program)], cwd=folder, capture_output=True, text=True, check=False,
                         env=settings, preexec_fn=limit_processor)
    # A launch that is refused leaves a line, and no report.
    said = [line for line in ran.stderr.splitlines() if "was not launched" in line]
    launches = json.loads(report.read_text(encoding="utf-8"))["launches"] if report.is_file() else []
    for launch in launches:
        for finding in launch["findings"]:
            line = (f"{finding['file']}:{finding['line']}: {finding['kind']}: {finding['message']} "
                    f"({finding['count']} time{'s' if finding['count'] != 1 else ''})")
            if relative(line) not in said:
                said.append(relative(line))
    return {"name": name, "compiles": True, "status": ran.returncode, "said": said,
            # After a finding the values are whatever the memory held: nothing to keep.
            "printed": ran.stdout.splitlines() if ran.returncode == 0 else []}


def main():
    parser = argparse.ArgumentParser(description="Keeps what the simulator says of faulty programs.")
    parser.add_argument("--simcc", required=True, help="the simulator's compiler")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 if findings.json differs")
    arguments = parser.parse_args()
    simcc = str(pathlib.Path(arguments.simcc).resolve())
    with tempfile.TemporaryDirectory() as folder:
        runs = [run_one(simcc, name, folder) for name in PROGRAMS]

    path = ROOT / "docs" / "results" / "findings.json"
    if not arguments.check:
        text = json.dumps({"schema_version": 1, "command": "docs/results/make_findings.py",
                           "runs": runs}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"make_findings: {len(runs)} programs run")
        return 0
    old = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.is_file() else []
    if old == runs:
        print(f"make_findings: {len(runs)} programs, all as recorded")
        return 0
    recorded = {run["name"]: run for run in old}
    for run in runs:
        if recorded.get(run["name"]) != run:
            print(f"recorded: {json.dumps(recorded.get(run['name']))}\nnow:      {json.dumps(run)}",
                  file=sys.stderr)
    print("findings.json differs: run docs/results/make_findings.py and docs/check_docs.py --fix",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
