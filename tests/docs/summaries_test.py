#!/usr/bin/env python3
"""Which rows of a summary docs/results/make_summaries.py keeps, and what profile_launches.py there says without a profiler."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("make_summaries", ROOT / "docs" / "results" / "make_summaries.py")
make_summaries = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_summaries)

HEAD = "| stage | variant | cache | problems | wins |\n| :--- | :--- | :--- | :--- | ---: |"
ROWS = ["| 09 | slow | hot | all | 1 |", "| 09 | slow | hot | R 1, N 1 | 2 |", "| 09 | fast | cold | all | 3 |"]
NOTE = "\n- a note on the table"


class KeptRows(unittest.TestCase):
    def kept(self, **options):
        text = make_summaries.kept_rows("\n".join([HEAD, *ROWS, NOTE]), options, "a file")
        self.assertTrue(text.startswith(HEAD + "\n"))
        self.assertTrue(text.endswith("\n" + NOTE))
        return [ROWS.index(line) for line in text.split("\n") if line in ROWS]

    def test_all_without_a_choice(self):
        self.assertEqual(self.kept(), [0, 1, 2])

    def test_one_choice_and_two(self):
        self.assertEqual(self.kept(variant="slow"), [0, 1])
        self.assertEqual(self.kept(cache="cold", variant="fast"), [2])
        self.assertEqual(self.kept(cache="hot,cold"), [0, 1, 2])

    def test_problems_with_a_comma(self):
        self.assertEqual(self.kept(problems="R_1,_N_1"), [1])
        self.assertEqual(self.kept(problems="all;R_1,_N_1"), [0, 1, 2])

    def test_columns_left_out(self):
        text = make_summaries.kept_rows("\n".join([HEAD, *ROWS, NOTE]), {"without": "stage,cache", "cache": "hot"}, "a file")
        self.assertEqual(text, "| variant | problems | wins |\n| :--- | :--- | ---: |\n"
                               "| slow | all | 1 |\n| slow | R 1, N 1 | 2 |\n" + NOTE)
        for without in ("variant", "none"):
            with self.assertRaises(SystemExit):
                make_summaries.kept_rows("\n".join([HEAD, *ROWS]), {"without": without}, "a file")

    def test_what_no_row_has(self):
        for options in ({"variant": "slow,none"}, {"cache": "warm"}, {"variant": "fast", "cache": "hot"},
                        {"problems": "R 3"}):
            with self.assertRaises(SystemExit):
                self.kept(**options)


class Profile(unittest.TestCase):
    def test_without_a_profiler_it_is_one_line(self):
        ended = subprocess.run([sys.executable, ROOT / "docs/results/profile_launches.py", "program:variant", "--figures",
                                "units", "--layer", "7-1-1-32-832", "--json", "out.json"],
                               env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout, len(ended.stderr.splitlines())), (77, "", 1), ended.stderr)
        self.assertIn("Nsight Compute", ended.stderr)


if __name__ == "__main__":
    unittest.main()
