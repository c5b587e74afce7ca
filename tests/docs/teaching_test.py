#!/usr/bin/env python3
"""The instructors' notes (solutions/teaching.md): every week has its parts, the hunts are there by then, and the sums are right."""

import json
import math
import pathlib
import re
import unittest

import hours_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = " ".join((ROOT / "solutions" / "teaching.md").read_text(encoding="utf-8").split())
SUM = re.compile(r"([\d⌈(][\d,.⌈⌉() +×/-]*[\d⌉)]) = \*\*([\d,.]+)\*\*")


def value(expression):
    """Of a sum as the notes write it."""
    python = expression.replace(",", "").replace("×", "*").replace("⌈", "math.ceil(").replace("⌉", ")")
    return eval(python, {"math": math})  # digits, operators and ceil only: SUM has no other letters


def wrong_sums(text):
    wrong = []
    for expression, said in SUM.findall(text):
        decimals = len(said.partition(".")[2])
        if abs(value(expression) - float(said.replace(",", ""))) > 0.5001 * 10**-decimals:
            wrong.append(f"{expression} = {said}, but it is {value(expression)}")
    return wrong


class Teaching(unittest.TestCase):
    def setUp(self):
        self.weeks = dict(re.findall(r"## Week (\d+) (.*?)(?= ## Week|$)", TEXT))

    def test_a_wrong_sum_is_seen(self):
        self.assertEqual(wrong_sums("⌈94 / 8⌉ = **12**, (2 + 0.5 + 0.25) / 3 = **0.92**, 4 × 1,000 = **4,000**"), [])
        for sum_ in ("⌈94 / 8⌉ = **11**", "2 / 3 = **0.66**", "4 × 1,000 = **4,001**"):
            self.assertEqual(len(wrong_sums(sum_)), 1, sum_)

    def test_all_sums_are_right(self):
        self.assertEqual(wrong_sums(TEXT), [])
        self.assertEqual(len(SUM.findall(TEXT)), TEXT.count("= **"), "a sum that is not understood")

    def test_each_week_has_two_questions_with_numbers_and_something_to_do_together(self):
        self.assertEqual(sorted(map(int, self.weeks)), list(range(1, 11)))
        for week, text in self.weeks.items():
            self.assertTrue(text.startswith("**Goes wrong.** "), week)
            questions = re.findall(r"\*\*Ask: .*?(?=\*\*Ask: |\*\*Together)", text)
            self.assertEqual(len(questions), 2, week)
            for question in questions:
                self.assertTrue(SUM.search(question), f"week {week}: no sum in {question[:60]}")
            self.assertEqual(text.count("**Together.** "), 1, week)

    def test_the_hunts_are_those_of_pages_that_were_read(self):
        stages = {hunt["name"]: hunt["stage"]
                  for hunt in json.loads((ROOT / "exercises/hunts/hunts.json").read_text(encoding="utf-8"))["hunts"]}
        kinds = {hunt["name"]: hunt["kind"]
                 for hunt in json.loads((ROOT / "solutions/hunts/answers.json").read_text(encoding="utf-8"))}
        graded = {hunt["name"] for hunt in json.loads(
            (ROOT / "solutions/assignment.json").read_text(encoding="utf-8"))["hunts"]}
        read, together = "", 0
        for week, pages, _, _, _ in hours_test.weeks():
            read = max([read] + [page[:2] for group in pages for page, _ in group if page[:2].isdigit()])
            for name, kind in re.findall(r"`(\d\d_\w+)` \(`(\w+)`\)", self.weeks[str(week)]):
                self.assertLessEqual(stages[name], read, f"week {week}: {name}")
                self.assertEqual(kinds[name], kind, name)
                self.assertNotIn(name, graded)
                together += 1
        self.assertEqual(together, 9)

    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)#]+)", TEXT)
        self.assertGreater(len(links), 1)
        for link in links:
            self.assertTrue((ROOT / "solutions" / link).is_file(), link)


if __name__ == "__main__":
    unittest.main()
