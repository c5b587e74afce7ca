"""Right programs that are unlike what students usually write have all points: whole files of tests/exercises/unusual, and
each solution started in other ways than by <<<>>>. Each is graded as a submission is.

usage: unusual_test.py HALO_GRADE BUILD [--sample] [unittest's options]

--sample takes one program of each exercise."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "exercises"))
from programs import exercises, file_of, unusual, unusual_text

FAMILIES = {"signals": ("02", "03", "04", "05"), "pictures": ("06",), "layers": ("07", "08"), "sums": ("09",),
            "transforms": ("10",), "pooling": ("11",), "softmax": ("12",)}
LEAST, MOST_LINES = 10, 120

halo_grade = build = None
sample = False


def programs():
    for number, exercise in enumerate(exercises()):
        names = unusual(exercise)
        # Another one of each, so that a sample has most of the launches too.
        yield from ((exercise, name) for name in ([names[number % len(names)]] if sample and names else names))


def graded(job):
    exercise, name = job
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / file_of(exercise)
        file.write_text(unusual_text(exercise, name))
        done = subprocess.run([halo_grade, "--build", build, "grade", file, "--exercise", exercise, "--format", "json"],
                              capture_output=True, text=True)
    return json.loads(done.stdout)["exercises"][0] if done.stdout else {"refusal": done.stderr}


class Unusual(unittest.TestCase):
    def test_each_has_all_points(self):
        jobs = list(programs())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (exercise, name), grade in zip(jobs, pool.map(graded, jobs)):
                with self.subTest(exercise=exercise, program=name):
                    self.assertEqual(grade["refusal"], "")
                    self.assertEqual(grade["remarks"], [])
                    self.assertEqual({one["name"]: one["message"] for one in grade["cases"] if one["outcome"] != "passed"}, {})
                    self.assertEqual(grade["points"], grade["most"])

    def test_there_are_enough_of_each_family_and_they_are_short(self):
        for family, numbers in FAMILIES.items():
            with self.subTest(family=family):
                count = sum(len(unusual(exercise)) for exercise in exercises() if exercise[:2] in numbers)
                self.assertGreaterEqual(count, LEAST)
        for file in (ROOT / "tests/exercises/unusual").glob("*/*.cu"):
            with self.subTest(file=file):
                self.assertLessEqual(len(file.read_text().splitlines()), MOST_LINES)


if __name__ == "__main__":
    halo_grade, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    unittest.main()
