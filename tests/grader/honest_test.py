"""Nothing that the course has is refused by the tripwires: skeletons, solutions, other right programs and the bug
hunts, each compiled as a submission is, by whichever test asks for it first.

usage: honest_test.py LOOK BUILD [--all | --sample] [unittest's options]

--all takes the wrong programs of the exercises' tests as well, --sample the solutions only."""
import concurrent.futures
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "exercises"))
from programs import compilers, exercises, file_with, mends, others, program_of, source_of, steps_to

LEAST, LEAST_OF_SAMPLE = 100, 14

look = build = None
with_wrong_ones = sample = False


def honest_sources():
    """As the repository names them, or would name them."""
    if sample:
        return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("solutions/[0-9]*/*.cu"))
    kinds = ("right_", "wrong_", "lazy_") if with_wrong_ones else "right_"
    made = {source_of(exercise, name) for exercise in exercises() for name in others(exercise) if name.startswith(kinds)}
    made |= {f"solutions/hunts/{hunt}.cu" for hunt in mends()}
    files = [*ROOT.glob("exercises/*/start.cu"), *ROOT.glob("exercises/hunts/start/*.cu"), *ROOT.glob("solutions/*/*.cu")]
    return sorted(made | {path.relative_to(ROOT).as_posix() for path in files})


def refusal(source):
    """What is said of the file; empty if it may run."""
    file, toolkit = file_with(build, source), pathlib.Path(compilers(build)["words"][0]).parent.parent
    try:
        compiled, packed = steps_to(program_of(build, source))
    except ValueError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as name:
        preprocessed, symbols = pathlib.Path(name) / "preprocessed", pathlib.Path(name) / "symbols"
        preprocessed.write_bytes(gzip.decompress(packed.read_bytes()))
        symbols.write_bytes(subprocess.run(["nm", "-P", compiled], stdout=subprocess.PIPE, check=True).stdout)
        done = subprocess.run([look, file, preprocessed, symbols, ROOT, toolkit, file], capture_output=True, text=True)
        return done.stdout + done.stderr


class Honest(unittest.TestCase):
    def test_nothing_of_the_course_is_refused(self):
        sources = honest_sources()
        self.assertGreaterEqual(len(sources), LEAST_OF_SAMPLE if sample else LEAST)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, said in zip(sources, pool.map(refusal, sources)):
                with self.subTest(source=source):
                    self.assertEqual(said, "")

    def test_what_has_no_place_in_an_exercise_is_refused(self):
        self.assertRegex(refusal("tests/exercises/misbehaving/sleeps.cu"), r"\bpause\b")


if __name__ == "__main__":
    look, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        with_wrong_ones = True
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    unittest.main()
