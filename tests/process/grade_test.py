"""What is handed in is compiled and run in the sandbox, at each level that this machine has: right programs have
all their points, and the compiler reads nothing that is not the exercise's.

usage: grade_test.py BUILD/common/cli/halo-grade [unittest's options]"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEVELS = ["namespaces", "confined", "limits"]
WITHOUT_A_LEVEL = 77

halo = None


def grade(file, *options):
    """What `halo grade` says of a file, and how it ended."""
    done = subprocess.run([halo, "grade", str(file), "--format", "json", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return done, json.loads(done.stdout) if done.returncode != WITHOUT_A_LEVEL else None


def solution(exercise):
    return ROOT / "solutions" / exercise / (exercise[3:] + ".cu")


class Graded(unittest.TestCase):
    def at(self, level, file):
        done, said = grade(file, "--sandbox", level, "--require-sandbox", level)
        if done.returncode == WITHOUT_A_LEVEL:
            self.skipTest(f"not at the level {level} here: {done.stderr.strip()}")
        self.assertEqual(said["sandbox"], level, done.stderr)
        self.assertEqual(len(said["exercises"]), 1, done.stdout)
        return said["exercises"][0]

    def with_all_points(self, exercise):
        for level in LEVELS:
            with self.subTest(level=level):
                graded = self.at(level, solution(exercise))
                self.assertEqual(graded["refusal"], "")
                self.assertEqual(graded["remarks"], [])
                cases = graded["cases"]
                self.assertGreater(len(cases), 5)
                for case in cases:
                    self.assertEqual(case["points"], case["most"], case)

    def test_a_right_kernel_has_all_points_at_each_level(self):
        self.with_all_points("04_tile_and_halo")

    def test_a_right_program_has_all_points_at_each_level(self):
        self.with_all_points("00_first_program")


class Compiled(unittest.TestCase):
    def refused(self, text):
        """Why a file is not compiled, that begins as the solution does."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tile_and_halo.cu"
            file.write_text(text + "\n" + solution("04_tile_and_halo").read_text())
            done, said = grade(file, "--require-sandbox", "confined")
        if done.returncode == WITHOUT_A_LEVEL:
            self.skipTest("files are not confined here: " + done.stderr.strip())
        graded = said["exercises"][0]
        self.assertEqual(graded["points"], 0)
        for case in graded["cases"]:
            self.assertEqual(case["outcome"], "not run", case)
        return graded["refusal"]

    def test_neither_the_solutions_nor_the_checks_can_be_included(self):
        for path in ["solutions/04_tile_and_halo/tile_and_halo.cu", "exercises/04_tile_and_halo/check.cpp"]:
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).exists())
                why = self.refused(f'#include "{ROOT / path}"')
                self.assertRegex(why, "No such file|Permission denied|include")

    def test_a_compiler_bomb_is_ended(self):
        # An argument is expanded before it is put in: ten thousand million words, in memory.
        bomb = "#define TWICE(x) x x\n" + "TWICE(" * 33 + "int;" + ")" * 33 + "\n"
        self.assertRegex(self.refused(bomb), "does not compile: the compiler was ended: it (took|ran for) more than")


if __name__ == "__main__":
    halo = sys.argv.pop(1)
    unittest.main()
