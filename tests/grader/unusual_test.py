"""Right programs that are unlike what students usually write have all points: whole files of tests/exercises/unusual, and
each solution started in other ways than by <<<>>>. Each is graded as a submission is; one that is started in several ways,
each in its turn, stands for a program of each, for nearly all of a grading's time is nvcc's.

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
from programs import can_be_started, exercises, file_of, in_turn, launches, own_unusual, unusual, unusual_text

FAMILIES = {"signals": ("02", "03", "04", "05"), "pictures": ("06",), "layers": ("07", "08"), "sums": ("09",),
            "transforms": ("10",), "pooling": ("11",), "softmax": ("12",)}
LEAST, MOST_LINES = 10, 120

halo_grade = build = None
sample = False


def programs():
    """Exercise, name and text. Each way to start a kernel comes to half a dozen calls of an exercise and more, and to a budget in
    most of them."""
    ways = list(launches())
    for number, exercise in enumerate(exercises()):
        own = [(exercise, name, unusual_text(exercise, name)) for name in own_unusual(exercise)]
        started = [(exercise, f"{half[0]} ... {half[-1]}", in_turn(exercise, half))
                   for half in (ways[::2], ways[1::2]) if can_be_started(exercise)]
        every = own + started
        # Another one of each, so that a sample has most of the launches too.
        yield from [every[number % len(every)]] if sample and every else every


def graded(job):
    exercise, _, text = job
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / file_of(exercise)
        file.write_text(text)
        done = subprocess.run([halo_grade, "--build", build, "grade", file, "--exercise", exercise, "--format", "json"],
                              capture_output=True, text=True)
    return json.loads(done.stdout)["exercises"][0] if done.stdout else {"refusal": done.stderr}


class Unusual(unittest.TestCase):
    def test_each_has_all_points(self):
        jobs = list(programs())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (exercise, name, _), grade in zip(jobs, pool.map(graded, jobs)):
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
