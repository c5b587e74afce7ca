#!/usr/bin/env python3
"""Writes kill_table.md: the graders graded. How many wrong programs each check kills, and how many right ones pass,
over the exercises, the hunts and the stages' kernels, as planted_bugs.csv, exercises.json and attacks.csv have recorded
them.

usage: make_kill_table.py [--check]

--check writes nothing; exit status 1 if the page is not what the two recordings make."""
import collections
import csv
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "kill_table.md"
PLANTED, EXERCISES, ATTACKS = HERE / "planted_bugs.csv", HERE / "exercises.json", HERE / "attacks.csv"
COURSE = HERE.parent.parent / "stages" / "course.csv"


def checks_of(by):
    """The checks that an edit was found by: what stands in brackets says where."""
    if by.startswith("compiler"):
        return ["the compiler"]
    while re.search(r"\(", by):
        by, times = re.subn(r" *\([^()]*\)", "", by)
        if not times:
            raise SystemExit(f"brackets that do not close: {by}")
    return by.split(", ")


def table(head, rows, words=1):
    """The first `words` columns are text."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(" :--- " if i < words else " ---: " for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


class Tally:
    """Of wrong and right programs, a line for each place."""

    def __init__(self):
        self.places = collections.OrderedDict()
        self.killers, self.alone = collections.Counter(), collections.Counter()

    def add(self, place, wrong, good, killers=()):
        line = self.places.setdefault(place, collections.Counter())
        line["wrong" if wrong else "right"] += 1
        line["killed" if wrong else "accepted"] += good
        if wrong and good:
            self.killers.update(set(killers))
            if len(set(killers)) == 1:
                self.alone.update(killers)

    def sum(self, what):
        return sum(line[what] for line in self.places.values())

    def rows(self):
        of = [(place, line["wrong"], line["killed"], line["right"], line["accepted"])
              for place, line in self.places.items()]
        return of + [("**all**", *(self.sum(what) for what in ("wrong", "killed", "right", "accepted")))]

    def killed_by(self):
        return [(killer, count, self.alone[killer]) for killer, count in
                sorted(self.killers.items(), key=lambda one: (-one[1], one[0]))]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise SystemExit(f"{path.name} is empty")
    return rows


def stages():
    planted = Tally()
    names = {row.split(",")[0][:2]: row.split(",")[0] for row in COURSE.read_text().splitlines()[1:]}
    for row in rows_of(PLANTED):
        wrong = row["should be"] == "found"
        planted.add(names.get(row["edit"][:2], row["edit"][:2]), wrong, row["is"] == row["should be"], checks_of(row["by"]))
    return planted


def exercises():
    course = Tally()
    for row in json.loads(EXERCISES.read_text())["programs"]:
        wrong = row["program"].startswith(("wrong", "skeleton", "lazy"))
        course.add(row["exercise"], wrong, (row["points"] < row["most"]) == wrong, row["failed"])
    return course


def hunts():
    hunted = Tally()
    for row in json.loads(EXERCISES.read_text())["hunts"]:
        hunted.add("hunts", True, bool(row["failed"]), [row["found_by"]])
        hunted.add("hunts", False, float(row["points_mended"]) == 100)
    return hunted


def attacks():
    """How many there are of each exercise, and how many have points."""
    of = collections.defaultdict(list)
    for row in rows_of(ATTACKS):
        of[row["exercise"]].append(float(row["points"]))
    return [(exercise, len(points), sum(one > 0 for one in points), f"{max(points):g}") for exercise, points in sorted(of.items())]


def page():
    of_stages, of_exercises, of_hunts = stages(), exercises(), hunts()
    every = (of_stages, of_exercises, of_hunts)
    total = {what: sum(one.sum(what) for one in every) for what in ("wrong", "killed", "right", "accepted")}
    head = ["", "wrong", "killed", "right", "accepted"]
    text = f"""# The graders, graded

A grade is worth what its checks are worth. So the checks are given programs that are wrong on purpose, which they must
kill, and programs that are right in another way than ours, which they must accept: **{total['killed']} of {total['wrong']} wrong ones are killed,
{total['accepted']} of {total['right']} right ones accepted.** Each program with what killed it: [exercises and hunts](exercises.json), [the stages' kernels](planted_bugs.csv).

Made by `docs/results/make_kill_table.py` from these recordings.

## Exercises

A wrong program is killed if it does not get all points. The skeletons that students begin with are among the wrong ones, and
lazy programs, which are correct and safe but ignore what the exercise is about; the solutions are among the right ones.

"""
    text += table(head, of_exercises.rows())
    text += """
## Hunts

Each has one mistake; its corrected form is the right one.

"""
    text += table(head, of_hunts.rows())
    text += """
## Attacks on the grader

Hostile submissions, each graded as any other, in a sandbox. Those with points do some of it as asked: a right file that also
does something it should not, or a right one that only seems to keep to the lesson. [What each does, and what it is
told](attacks.csv).

"""
    text += table(["exercise", "attacks", "with points", "most points, of 130"], attacks())
    text += """
## Kernels of the stages

Edits of one kernel each, run as `halo run --strict` runs a stage.

"""
    text += table(head, of_stages.rows())
    text += """
Not as they should be:

"""
    text += table(["edit", "what it does", "is", "why"],
                  [(row["edit"], row["what it does"], row["is"], row["by"]) for row in rows_of(PLANTED) if row["is"] != row["should be"]], words=4)
    text += """
## What kills

How many of the stages' edits a check finds, and how many no other finds.

"""
    text += table(["check", "finds", "alone"], of_stages.killed_by())
    text += """
And of the hunts' mistakes:

"""
    text += table(["check", "finds", "alone"], of_hunts.killed_by())
    return text


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    text = page()
    if not sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is not what the recordings make: run docs/results/make_kill_table.py")


if __name__ == "__main__":
    main()
