"""Nothing that the course has is refused by the tripwires: skeletons, solutions, other right programs and the bug
hunts, each compiled as a submission is.

usage: honest_test.py LOOK BUILD [--all | --sample] [unittest's options]

--all takes the wrong programs of the exercises' tests as well, --sample the solutions only."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "exercises"))
from programs import compilers, exercises, file_with, mends, others, source_of

LEAST, LEAST_OF_SAMPLE = 100, 14

look = build = None
with_wrong_ones = sample = False


def honest_files():
    if sample:
        return sorted(ROOT.glob("solutions/[0-9]*/*.cu"))
    kinds = ("right_", "wrong_", "lazy_") if with_wrong_ones else "right_"
    others_of = {exercise: [name for name in others(exercise) if name.startswith(kinds)] for exercise in exercises()}
    made = [source_of(exercise, name) for exercise, names in others_of.items() for name in names]
    made += [f"solutions/hunts/{hunt}.cu" for hunt in mends()]
    return sorted([*ROOT.glob("exercises/*/start.cu"), *ROOT.glob("exercises/hunts/start/*.cu"),
                   *ROOT.glob("solutions/*/*.cu"), *(file_with(build, source) for source in made)])


def refusal(source):
    """What is said of the file; empty if it may run."""
    words = compilers(build)["words"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [word.replace("{source}", str(source)).replace("{program}", str(folder / "x.o"))
                   for word in words if not word.endswith(".a")]
        done = subprocess.run([command[0], "-c", "--keep", *command[1:]], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            return f"it does not compile: {done.stderr}"
        (folder / "symbols").write_text(subprocess.run(["nm", "-P", folder / "x.o"], capture_output=True, text=True,
                                                       check=True).stdout)
        done = subprocess.run([look, source, folder / f"{source.stem}.cpp4.ii", folder / "symbols", ROOT,
                               pathlib.Path(words[0]).parent.parent, source], capture_output=True, text=True)
        return done.stdout + done.stderr


class Honest(unittest.TestCase):
    def test_nothing_of_the_course_is_refused(self):
        files = honest_files()
        self.assertGreaterEqual(len(files), LEAST_OF_SAMPLE if sample else LEAST)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, said in zip(files, pool.map(refusal, files)):
                with self.subTest(source=source):
                    self.assertEqual(said, "")

    def test_what_has_no_place_in_an_exercise_is_refused(self):
        self.assertIn("exit", refusal(ROOT / "tests/exercises/misbehaving/exits.cu"))


if __name__ == "__main__":
    look, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        with_wrong_ones = True
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    unittest.main()
