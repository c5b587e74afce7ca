#!/usr/bin/env python3
"""The hours of the syllabus and of the map add up: they are the sums of what pages and exercises say of themselves. And
pages are as short as such hours ask for."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LECTURE, HUNT = 90, 15  # minutes
PAGE = re.compile(r"\[[^\]]+\]\((\w+)\.md\)")
LESSON_WORDS, TUNED_WORDS, ALL_WORDS = 2_300, 2_500, 110_000
AMOUNTS = {"Half an hour": 30, "Three quarters of an hour": 45, "An hour": 60, "An hour and a half": 90, "Two hours": 120}


def minutes(text):
    """Of '2½ hours', '60 minutes', '5¼'; without a unit it is hours."""
    found = re.fullmatch(r"(\d*)([¼½¾]?)(?: (hours?|minutes))?", text.strip())
    if not found or not found[0]:
        raise ValueError(f"{text!r} is no time")
    amount = int(found[1] or 0) + {"": 0, "¼": 0.25, "½": 0.5, "¾": 0.75}[found[2]]
    return int(amount * (1 if found[3] == "minutes" else 60))


def text_of(path):
    return path.read_text(encoding="utf-8")


def time_of(page, docs=DOCS):
    """Minutes of a page, as its head says, or for one without a head the map."""
    head = re.search(r"^\| time \|.*\n\|[-|]+\|\n\| ([^|]+) \|", text_of(docs / f"{page}.md"), re.M)
    if head:
        return minutes(head[1].removesuffix(", exercise included"))
    row = re.search(rf"^\| \[[^\]]+\]\({page}\.md\) \|.*\| (\d+) \|$", text_of(docs / "index.md"), re.M)
    if not row:
        raise ValueError(f"docs/{page}.md says no time, nor does docs/index.md")
    return int(row[1])


def time_of_lab():
    """Of one profiler lab: all of them take what the map says."""
    return time_of("labs") // len(re.findall(r"^\| L\d \|", text_of(DOCS / "labs.md"), re.M))


def exercises():
    """{number: (its page, minutes)}."""
    found = {}
    for folder in sorted((ROOT / "exercises").glob("[0-9][0-9]_*")):
        head = re.search(r"^((?:[A-Z][a-z]+ )[a-z ]+), after \[[^\]]+\]\(\.\./\.\./docs/(\w+)\.md\)",
                         text_of(folder / "README.md"), re.M)
        found[folder.name[:2]] = (head[2], AMOUNTS[head[1]])
    return found


def weeks():
    """Of the syllabus's table: (week, groups of alternative pages, its minutes, groups of alternative exercises, hunts)."""
    for line in text_of(DOCS / "syllabus.md").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[0].isdigit():
            continue
        pages = [[(page, "lab" in one) for one in part.split(" or ") for page in PAGE.findall(one)]
                 for part in cells[1].split(", ")]
        given = re.findall(r"\d\d", re.search(r"exercises? ([^;]*)", cells[3])[1])
        given = [given] if " or " in cells[3] else [[one] for one in given]
        yield int(cells[0]), pages, minutes(cells[2]), given, 0 if cells[4] == "-" else int(cells[4])


class Hours(unittest.TestCase):
    def test_times_are_read(self):
        self.assertEqual([minutes(text) for text in ("2 hours", "1½ hours", "45 minutes", "5¼", "½", "1 hour")],
                         [120, 90, 45, 315, 30, 60])
        for text in ("", "soon", "2 days"):
            self.assertRaises(ValueError, minutes, text)

    def test_an_exercise_leaves_time_to_read_its_page(self):
        self.assertEqual(len(exercises()), 14)
        for number, (page, took) in exercises().items():
            self.assertIn(", exercise included", text_of(DOCS / f"{page}.md"), number)
            self.assertGreaterEqual(time_of(page) - took, 45, number)

    def test_a_week_of_the_syllabus_is_the_sum_of_its_parts(self):
        known, seen = exercises(), []
        for week, pages, said, given, hunts in weeks():
            seen.append(week)
            total = LECTURE + HUNT * hunts
            for group in pages:
                total += max(time_of_lab() if is_lab else time_of(page) for page, is_lab in group)
            # Of exercises to choose from whose pages are all read, the longest is written.
            alone = {group[0][0] for group in pages if len(group) == 1}
            for group in given:
                if len(group) > 1 and all(known[one][0] in alone for one in group):
                    times = [known[one][1] for one in group]
                    total -= sum(times) - max(times)
            read = {page for group in pages for page, _ in group}
            self.assertLessEqual({known[one][0] for group in given for one in group}, read, f"week {week}")
            self.assertEqual(said, total, f"week {week}: docs/syllabus.md says {said / 60} hours, its parts are {total / 60}")
        self.assertEqual(seen, list(range(1, 11)))
        whole = re.search(r"([\d¼½¾]+) hours\s+together", text_of(DOCS / "syllabus.md"))
        self.assertEqual(minutes(whole[1]), sum(said for _, _, said, _, _ in weeks()))

    def test_there_are_hunts_enough_for_each_week(self):
        stages = [hunt["stage"] for hunt in json.loads(text_of(ROOT / "exercises" / "hunts" / "hunts.json"))["hunts"]]
        asked, open_to_all = 0, set()
        for week, pages, _, _, hunts in weeks():
            open_to_all |= {group[0][0][:2] for group in pages if len(group) == 1}
            asked += hunts
            self.assertLessEqual(asked, sum(stage in open_to_all for stage in stages), f"week {week}")
        self.assertGreater(asked, 0)

    def test_the_sheet_counts_what_is_handed_in(self):
        given = sum(len(exercises) for _, _, _, exercises, _ in weeks())
        hidden = [sum(case["points"] for case in exercise["hidden"]) for exercise in json.loads(
            text_of(ROOT / "solutions" / "assignment.json"))["exercises"]]
        self.assertEqual(set(hidden), {30})
        formula = re.search(r"E of (\d+) · 130 points, W of\s+(\d+) · 6.*?E / ([\d,]+) .*?W / (\d+) ",
                            text_of(DOCS / "syllabus.md"), re.S)
        self.assertEqual([int(number.replace(",", "")) for number in formula.groups()], [given, given, given * 130, given * 6])

    def test_the_map_says_what_the_pages_say(self):
        index = text_of(DOCS / "index.md")
        rows = re.findall(r"^\| \[\d\d\]\((\w+)\.md\) \|.*\| ([\d¼½¾]+) \|$", index, re.M)
        self.assertGreater(len(rows), 10)
        for page, hours in rows:
            self.assertEqual(minutes(hours), time_of(page), f"docs/index.md: the hours of {page}.md")
        whole = [int(number) for number in re.search(
            r"That is (\d+) hours\. The tuned\s+pages \([^)]*\) are (\d+) more, all bug hunts another\s+(\d+)", index).groups()]
        read = [time_of(page) for page, _ in rows] + [time_of("00_before_you_start")]
        measuring = [int(number) for number in re.findall(r"^\| \[[^|]*\|[^|]*\| (\d+) \|$", index, re.M)]
        tuned = [time_of(path.stem) for path in DOCS.glob("*_tuned.md")]
        hunts = len(json.loads(text_of(ROOT / "exercises" / "hunts" / "hunts.json"))["hunts"]) * HUNT
        sums = [sum(read) + sum(measuring), sum(tuned), hunts]
        self.assertEqual(whole, [int(total / 60 + 0.5) for total in sums])
        tracks = [int(hours) for hours in re.findall(r'>(?:[a-z ,]+: )?(\d+) hours<',
                                                     text_of(DOCS / "figures" / "course_map.svg"))]
        self.assertEqual([sum(tracks[:-1]) * 60, tracks[-1]], [sum(read), int(sum(measuring) / 60 + 0.5)])

    def test_pages_keep_to_their_words(self):
        # As they are read: without the comments that generate tables and values.
        words = {page.stem: len(re.sub(r"<!--.*?-->", "", text_of(page), flags=re.S).split()) for page in DOCS.glob("*.md")}
        too_long = [f"docs/{page}.md has {count} words" for page, count in words.items()
                    if page[:2].isdigit() and count > (TUNED_WORDS if page.endswith("_tuned") else LESSON_WORDS)]
        self.assertEqual(too_long, [])
        self.assertLessEqual(sum(words.values()), ALL_WORDS)


if __name__ == "__main__":
    unittest.main()
