#!/usr/bin/env python3
"""Writes docs/results/class.md and class.json: how a class of two hundred known submissions (make_class.py) is graded: whether
each got what it should, whether a second run at the lowest priority of a busy machine and two shards side by side say the same,
and how long it takes.

usage: class_record.py BUILD [--jobs N] [--no-page] [OPTIONS of halo grade]

BUILD is a build folder whose exercises are built (meson test -C BUILD exercises-all). N is 2 if left out. Ends with 1 if anything
is not as it should be."""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import make_class

PAGE = make_class.ROOT / "docs" / "results" / "class.md"
SECONDS = 60
KINDS = ["right", "wrong", "attack", "unusable"]
GRADES = ["full", "partial", "zero", "refused", "error"]


def bare(value):
    """What two runs must have in common: all but the seconds."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key != "seconds"}
    return [bare(one) for one in value] if isinstance(value, list) else value


def results_of(folder):
    files = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            text = file.read_text()
            files[str(file.relative_to(folder))] = bare(json.loads(text)) if file.suffix == ".json" else text
    return files


def differences(one, other):
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


class Halo:
    def __init__(self, build, submissions, options):
        self.words = [str(build / "common/cli/halo-grade"), "grade", "--class", str(submissions), *options]

    def start(self, results, *more, before=()):
        return subprocess.Popen([*before, *self.words, "--results", str(results), *more], stdout=subprocess.PIPE, text=True)

    def run(self, results, *more, before=()):
        """What it said, and the seconds."""
        start = time.monotonic()
        said = end(self.start(results, *more, before=before))
        return said, time.monotonic() - start

    def run_beside_others(self, results, *more):
        """The same at the lowest priority, beside a program for each core that never rests and has the same priority: beside
        one of a higher priority, the lowest gets about a sixtieth of a core, and a class would take hours."""
        restless = [subprocess.Popen(["nice", "-n", "19", sys.executable, "-c", "while True: pass"])
                    for _ in range(os.cpu_count())]
        try:
            return self.run(results, *more, before=["nice", "-n", "19"])
        finally:
            for one in restless:
                one.kill()
                one.wait()


def end(process):
    said = process.communicate()[0]
    if process.returncode not in (0, 1):
        sys.exit(f"halo grade --class ended with {process.returncode}:\n{said}")
    return said


def graded(grade, exercise):
    """full, partial, zero, refused or error; the points, the cases that failed, and what was said."""
    if grade is None:
        return "error", 0, {}, "no result"
    if grade["error"]:
        return "error" if grade["error"].startswith("the grader did not finish") else "refused", 0, {}, grade["error"]
    one = next((one for one in grade["exercises"] if one["name"] == exercise), None)
    if one is None:
        return "error", 0, {}, "the exercise was not graded"
    cases = one["cases"]
    failed = {case["name"]: case["message"] for case in cases if case["outcome"] != "passed"}
    points, most = sum(case["points"] for case in cases), sum(case["most"] for case in cases)
    if one["refusal"]:
        return "refused", points, failed, one["refusal"]
    said = next(iter(failed.values()), "")
    return ("full" if points == most and most > 0 else "zero" if points == 0 else "partial"), points, failed, said


def is_as_expected(member, got, points, failed):
    return {"full": got == "full", "zero": got == "zero", "refused": got == "refused",
            "fails": got in ("partial", "zero") and member.get("case") in failed,
            "at most": got != "error" and points <= member.get("most", 0)}[member["expect"]]


def patient(place):
    """The course's assignment, but some attacks would wait for as long as they may."""
    assignment = json.loads((make_class.ROOT / "solutions/assignment.json").read_text())
    assignment["limits"] = {**assignment.get("limits", {}), "seconds": SECONDS}
    file = place / "assignment.json"
    file.write_text(json.dumps(assignment))
    return file


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]) + "\n"


def main():
    words = sys.argv[1:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    build, options = pathlib.Path(words[0]).resolve(), words[1:]
    jobs = options.pop(options.index("--jobs") + 1) if "--jobs" in options else "2"
    page = "--no-page" not in options
    options = [word for word in options if word not in ("--jobs", "--no-page")]
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        expected = make_class.make(place / "class")
        halo = Halo(build, place / "class" / "submissions", [*options, "--assignment", str(patient(place))])
        said, first = halo.run(place / "first", "--jobs", jobs)
        print(said)
        _, second = halo.run_beside_others(place / "second", "--jobs", jobs)
        _, again = halo.run(place / "second", "--jobs", jobs)
        start = time.monotonic()
        shards = [halo.start(place / "shards", "--jobs", "1", "--shard", f"{i}/2") for i in (1, 2)]
        for shard in shards:
            end(shard)
        halo.run(place / "shards", "--jobs", jobs)
        sharded = time.monotonic() - start
        one = results_of(place / "first")
        faults = [f"{name}: {what}" for what in ("second", "shards")
                  for name in differences(one, results_of(place / what))]
    same = "the same" if not faults else f"NOT the same ({', '.join(faults[:5])})"

    rows, counts = [], collections.Counter()
    for student, member in sorted(expected.items()):
        got, points, failed, message = graded(one.get(f"grades/{student}.json"), member["exercise"])
        counts[member["kind"], got] += 1
        good = is_as_expected(member, got, points, failed)
        rows.append({"student": student, **member, "graded": got, "points": points, "as_expected": good, "said": message})
        if not good:
            faults.append(f"{student} ({member['from']}, {member['packed']}): {member['expect']} "
                          f"{member.get('case', '')} expected, {got} graded: {message}")
    for fault in faults:
        print(f"FAULT: {fault}", file=sys.stderr)
    if page:
        write(rows, counts, options, jobs, [first, second, again, sharded], same, said)
    print(f"{len(rows)} submissions, {sum(row['as_expected'] for row in rows)} as expected; a second run, busy, and two shards: {same}; "
          f"{first:.0f} s with {jobs} at a time")
    return 1 if faults else 0


def write(rows, counts, options, jobs, seconds, same, said):
    first, second, again, sharded = seconds
    kinds = [kind for kind in KINDS if any(counts[kind, grade] for grade in GRADES)]
    command = " ".join(["tests/grader/class_record.py build", "--jobs", jobs, *options])
    wrong = [row for row in rows if not row["as_expected"]]
    text = f"""# A class of two hundred: what it is graded

Written on {datetime.date.today().isoformat()} by `{command}`, on {os.cpu_count()} cores, in the simulator. The submissions are made by
`tests/grader/make_class.py` out of solutions, other right programs (24 of them unusual), skeletons and wrong programs of the exercises, attacks on the
grader, and what is no submission; as files, folders, `.zip` and `.tar` in turn. Each is of one exercise.

## Who got what

Full: all points of the exercise's cases. Partial and zero: some, none. Right ones must be full, skeletons zero, wrong ones must fail the
case that they name, and what is no submission must be refused. Attacks must have no more points than their first lines say, which is
none but for {sum(row.get("most", 0) > 0 for row in rows)}: their outputs are right all the same. {len(rows) - len(wrong)} of {len(rows)} are as they must.

{markdown(["submission", *GRADES], [[kind, *(counts[kind, grade] for grade in GRADES)] for kind in kinds])}
"""
    if wrong:
        text += "Not as they must be:\n\n" + markdown(
            ["program", "packed", "expected", "graded", "said"],
            [[row["from"], row["packed"], row["expect"], row["graded"], row["said"]] for row in wrong]) + "\n"
    text += f"""## The same again

All files of a second run, at the lowest priority (`nice -n 19`) beside a program for each core that never rests and has the same priority, and of two shards at the same time in one folder, are {same}, but for seconds.

{markdown(["run", "seconds"], [
    [f"all, {jobs} at a time", f"{first:.0f}"],
    ["again, into an empty folder, on the busy machine", f"{second:.0f}"],
    ["again, over the results: nothing is to be done", f"{again:.1f}"],
    ["two shards side by side, one at a time each, and the run behind them", f"{sharded:.0f}"]])}
## What the instructor sees

```text
{said.rsplit(chr(10) + chr(10), 1)[0].strip(chr(10))}
```
"""
    PAGE.write_text(text)
    record = {"date": datetime.date.today().isoformat(), "command": command, "cores": os.cpu_count(),
              "seconds": {"first": round(first, 1), "second": round(second, 1), "kept": round(again, 1),
                          "shards": round(sharded, 1)},
              "same": same, "submissions": rows}
    PAGE.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
