#!/usr/bin/env python3
"""Writes docs/results/exercises.md and exercises.json: what skeletons, solutions, other programs and hunts score, and how
long a student waits from a save to a verdict. The page has the counts; the rows are in the other file.

usage: record.py BUILD [GPU.json]

BUILD is a build folder whose exercises' checks are built (meson test -C BUILD exercises-all). GPU.json is what
course_test.py --on gpu --table wrote on a machine with a GPU, with its name added as "machine"; without it the
rows that are there stay."""
import collections
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

from programs import exercises

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "results" / "exercises.md"
KINDS = ["skeleton", "wrong", "lazy", "right", "solution"]


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
    compilers = json.loads((build / "common/exercise/compilers.json").read_text())
    words, environment = compilers["words"], {**os.environ, "LD_LIBRARY_PATH": compilers["sim"]}
    source = ROOT / "solutions" / exercise / (exercise[3:] + ".cu")
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "yours")
        names = {"{source}": str(source), "{program}": program}
        start = time.monotonic()
        subprocess.run([names.get(word, word) for word in words], check=True)
        compiled = time.monotonic()
        subprocess.run([build / "exercises" / f"check-{exercise}", "--program", program, "--source",
                        str(source)], check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return compiled - start, time.monotonic() - compiled


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def kind_of(row):
    return row["program"].split("_")[0]


def score_of(rows):
    """"of 130: 20 to 78" and how many they are."""
    points = sorted(row["points"] for row in rows)
    return f"{points[0]:g}" if points[0] == points[-1] else f"{points[0]:g} to {points[-1]:g}"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    names = exercises()
    waits = {name: wait_of(build, name) for name in names}
    programs = table_of("course_test.py", build)
    hunts = table_of("hunts_test.py", build)
    totals = [sum(wait) for wait in waits.values()]
    records = PAGE.with_suffix(".json")
    old = json.loads(records.read_text()) if records.exists() else {}
    gpu = json.loads(pathlib.Path(sys.argv[2]).read_text()) if len(sys.argv) == 3 else old.get("gpu")
    by_kind = {kind: [row for row in programs if kind_of(row) == kind] for kind in KINDS}
    text = f"""# Exercises and hunts: what they score

Written on {datetime.date.today().isoformat()} by `tests/exercises/record.py build`, on {os.cpu_count()} cores, in the simulator. Every program and hunt, with the
cases that failed: [exercises.json](exercises.json).

## From a save to the verdict

The solution compiled and judged, in seconds, with nothing else running: median {statistics.median(totals):.1f}, worst {max(totals):.1f}
({max(waits, key=lambda name: sum(waits[name]))}).

## Programs

Points, hidden cases included for lazy and right ones and for solutions. A `skeleton` is what a student begins with, `wrong` ones have a
mistake that is made, `lazy` ones are correct and safe but ignore what the exercise is about, `right` ones are right in another way than the
solution.

"""
    text += markdown(["program", "how many", "points", "of"],
                     [(kind, len(rows), score_of(rows), f"{rows[0]['most']:g}") for kind, rows in by_kind.items()])
    text += "\n"
    text += markdown(["exercise", "verdict, s", *(f"{kind}: points" for kind in KINDS[:4])],
                     [(name, f"{sum(waits[name]):.1f}",
                       *(f"{len(rows)}: {score_of(rows)}" if rows else "none" for rows in
                         ([row for row in by_kind[kind] if row["exercise"] == name] for kind in KINDS[:4]))) for name in names])
    found = collections.Counter(hunt["found_by"] for hunt in hunts)
    text += f"""
## Hunts

{len(hunts)} hunts; each fails as it comes, and has all points once it is fixed. What finds them:

"""
    text += markdown(["found by", "hunts"], found.most_common())
    if gpu:
        times = [row for row in gpu["rows"] if row["program"] == "solution" and row.get("time")]
        text += f"""
## On a GPU

{gpu['machine']}, {gpu['date']}, `{gpu['command']}`: nothing is counted there; solutions and other right programs are judged by their
outputs, and timed. All {len(gpu['rows'])} were right. A call of the solution:

"""
        text += markdown(["exercise", "median (least to most)"],
                         [(row["exercise"], row["time"].split(" with ")[0]) for row in times])
    PAGE.write_text(text)
    records.write_text(json.dumps({"programs": programs, "hunts": hunts, "gpu": gpu}, indent=0) + "\n")
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(programs)} programs, {len(hunts)} hunts")


if __name__ == "__main__":
    main()
