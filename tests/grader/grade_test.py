"""`halo grade` with the real checks: what a submission is worth, and what its student is told.

usage: grade_test.py HALO_CLI BUILD [unittest's options]"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "exercises"))
from programs import mended, source_of, text_of

EXERCISE, FILE = "04_tile_and_halo", "tile_and_halo.cu"
WRONG = text_of(source_of(EXERCISE, "wrong_small_tile"))

halo = build = None


def run_halo(*words, before=(), prepare=None, **environment):
    """`halo` as it ends behind the words `before`, in a process that has first done `prepare`."""
    return subprocess.run([*before, halo, "--build", build, *map(str, words)], capture_output=True, text=True,
                          preexec_fn=prepare, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **environment})


def grade(*words, status=0, **how):
    """What `halo grade` says, and that it ends so."""
    done = run_halo("grade", *words, **how)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def few_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def json_grade(*words, **how):
    return json.loads(grade(*words, "--format", "json", **how))


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(one) for key, one in value.items() if key != "seconds"}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


class Grades(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def submission(self, source, name="ada"):
        folder = self.folder / name / EXERCISE
        folder.mkdir(parents=True)
        if isinstance(source, pathlib.Path):
            shutil.copy(source, folder / FILE)
        else:
            (folder / FILE).write_text(source)
        return folder.parent

    def test_a_solution_has_all_points(self):
        result = json_grade(self.submission(ROOT / "solutions" / EXERCISE / FILE))
        self.assertEqual(result["student"], "ada")
        self.assertEqual([one["name"] for one in result["exercises"]], [EXERCISE])
        cases = result["exercises"][0]["cases"]
        self.assertEqual({one["outcome"] for one in cases}, {"passed"})
        self.assertEqual({one["kind"] for one in cases}, {"correctness", "safety", "budget"})
        self.assertGreater(sum(one["most"] for one in cases if one["hidden"]), 0)
        self.assertEqual(result["points"], result["most"])
        self.assertIn(result["sandbox"], ("namespaces", "confined", "limits"))

    def test_what_ignores_the_lesson_has_half_of_the_points_and_the_cases_add_up_to_it(self):
        lazy = self.submission(text_of(source_of(EXERCISE, "lazy_no_tile")))
        exercise = json_grade(lazy)["exercises"][0]
        self.assertEqual((exercise["points"], exercise["most"]), (65, 130))
        self.assertEqual(sum(one["points"] for one in exercise["cases"]), exercise["points"])
        self.assertEqual([one["name"] for one in exercise["cases"] if one["points"] < 0],
                         ["the budget is not met: at most 65 of 130 points count"])
        tests = json.loads(grade(lazy, "--format", "gradescope"))["tests"]
        self.assertEqual(sum(one["score"] for one in tests), exercise["points"])
        self.assertIn("at most 65 of 130 points count", grade(lazy))

    def test_a_grade_is_the_same_twice_and_whatever_the_file_is_called(self):
        first = json_grade(self.submission(WRONG), "--student", "x")
        second = json_grade(self.submission(WRONG, "again"), "--student", "x")
        alone = self.folder / f"somebody_{FILE}"
        alone.write_text(WRONG)
        self.assertEqual(without_seconds(first), without_seconds(second))
        self.assertEqual(without_seconds(first), without_seconds(json_grade(alone, "--student", "x")))
        self.assertLess(first["points"], first["most"])

    def test_what_does_not_compile_has_no_points_of_the_number_there_were(self):
        right = json_grade(self.submission(ROOT / "solutions" / EXERCISE / FILE))
        result = json_grade(self.submission("this is no program\n", "grace"))
        self.assertEqual((result["points"], result["most"]), (0, right["most"]))
        exercise = result["exercises"][0]
        self.assertRegex(exercise["refusal"], r"^does not compile: .*tile_and_halo\.cu\(1\)")
        self.assertNotIn("/tmp", exercise["refusal"])
        self.assertEqual({one["outcome"] for one in exercise["cases"]}, {"not run"})
        self.assertEqual([one["name"] for one in exercise["cases"]],
                         [one["name"] for one in right["exercises"][0]["cases"]])

    def test_of_an_assignment_what_is_not_handed_in_counts(self):
        assignment = self.folder / "week.json"
        assignment.write_text(json.dumps({"title": "Week", "seed": 7, "exercises": [
            {"name": EXERCISE}, {"name": "07_division"}]}))
        result = json_grade(self.submission(ROOT / "solutions" / EXERCISE / FILE), "--assignment", assignment)
        self.assertEqual([(one["name"], one["refusal"]) for one in result["exercises"]],
                         [(EXERCISE, ""), ("07_division", "not handed in")])
        handed_in, missing = result["exercises"]
        self.assertEqual((handed_in["points"], missing["points"], result["seed"]), (handed_in["most"], 0, 7))
        self.assertEqual(result["most"], handed_in["most"] + missing["most"])

    def test_a_hunt_is_its_file_and_its_claim_together(self):
        assignment = self.folder / "hunts.json"
        assignment.write_text(json.dumps({"exercises": [{"name": EXERCISE}],
                                          "hunts": [{"name": "03_pooling", "points": 10}]}))
        fixed = mended("03_pooling")
        begun = (ROOT / "exercises/hunts/start/03_pooling.cu").read_text()
        line = 1 + next(i for i, (a, b) in enumerate(zip(begun.splitlines(), fixed.splitlines())) if a != b)
        right = f"{line} start\n"

        def graded(name, text, claims=None):
            folder = self.folder / name / "hunts"
            folder.mkdir(parents=True)
            (folder / "03_pooling.cu").write_text(text)
            if claims is not None:
                (folder / "03_pooling.claims").write_text(claims)
            return json_grade(folder.parent, "--assignment", assignment)["exercises"][1]
        found = graded("found", fixed, right)
        self.assertEqual((found["name"], found["points"], found["most"]), ("hunts/03_pooling", 10, 10))
        self.assertEqual(graded("guessed", fixed, "1 race\n2 type\n" + right)["points"], 8)
        for name, text, claims in (("no_claim", fixed, None), ("wrong_kind", fixed, f"{line} type\n"),
                                   ("wrong_line", fixed, f"{line + 9} start\n"), ("not_mended", begun, right)):
            with self.subTest(name):
                hunt = graded(name, text, claims)
                self.assertEqual(hunt["points"], 0)
                self.assertEqual([one["message"] for one in hunt["cases"]], ["not yet"])
        nothing = json_grade(self.submission(WRONG, "nothing"), "--assignment", assignment)["exercises"][1]
        self.assertEqual((nothing["points"], nothing["most"], nothing["refusal"]), (0, 10, "not handed in"))

    def test_hidden_cases_tell_no_number_and_the_feedback_level_less(self):
        assignment = self.folder / "week.json"
        assignment.write_text(json.dumps({"title": "Week", "seed": 7, "feedback": "kind", "exercises": [
            {"name": EXERCISE, "hidden": [{"name": "small blocks", "points": 8, "problems": [[90, 33, 7]]}]}]}))
        words = (self.submission(WRONG), "--assignment", assignment)
        result = json_grade(*words)
        hidden = [one for one in result["exercises"][0]["cases"] if one["hidden"]]
        self.assertEqual([(one["name"], one["most"]) for one in hidden], [("small blocks", 8)])
        self.assertTrue(hidden[0]["message"])
        self.assertNotRegex(hidden[0]["message"], r"\d")
        messages = [one["message"] for one in result["exercises"][0]["cases"] if one["outcome"] == "failed"]
        self.assertTrue(any(messages))
        told = json.loads(grade(*words, "--format", "gradescope"))
        for message in filter(None, messages):
            self.assertNotIn(message, json.dumps(told))
        self.assertIn("small blocks", json.dumps(told))
        score = json_grade(*words, "--feedback", "score")
        self.assertEqual([one["name"] for one in score["exercises"][0]["cases"]], ["all cases"])
        self.assertEqual(score["points"], result["points"])

    def test_a_result_stands_there_from_the_beginning(self):
        output = self.folder / "results.json"
        grade(self.submission(ROOT / "solutions" / EXERCISE / FILE), "--format", "json", "--output", output)
        self.assertGreater(json.loads(output.read_text())["points"], 0)
        # What makes a grader end before its end leaves the first one: no points, and an error.
        (self.folder / "empty").mkdir()
        grade(self.folder / "empty", "--format", "json", "--output", output, status=2)
        result = json.loads(output.read_text())
        self.assertEqual(result["points"], 0)
        self.assertIn("no file of an exercise", result["error"])

    def test_what_is_not_graded_is_no_good_end(self):
        for submission in (ROOT / "README.md", pathlib.Path("/dev/null")):
            for how in ((), ("--format", "json")):
                with self.subTest(submission=submission, how=how):
                    done = run_halo("grade", submission, *how)
                    self.assertEqual(done.returncode, 2, done)
                    self.assertIn("not graded: ", done.stderr if how else done.stdout)
        # A platform's scripts take a status for a fault of the grader's.
        grade(ROOT / "README.md", "--format", "gradescope")

    def test_hidden_cases_that_no_program_could_be_given_are_refused_before_anything_is_graded(self):
        assignment = self.folder / "week.json"
        file = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        for hidden, says in [
            ({"problems": [[-1, 3, 32]]}, "n -1"),
            ({"problems": [[100, 3]]}, "2 numbers, should have 3"),
            ({"problems": [[100, 4, 32]]}, "width 4, should be odd"),
            ({"problems": [[100, 3, 0]]}, "threads 0"),
            ({"problems": [[100, 3, 32]], "points": 1e9}, "at most 1000"),
            ({"problems": [[100, 3, 32]], "points": -1}, "above 0"),
        ]:
            with self.subTest(hidden=hidden):
                assignment.write_text(json.dumps({"exercises": [
                    {"name": EXERCISE, "hidden": [{"name": "h", "points": 5, **hidden}]}]}))
                said = grade(file, "--assignment", assignment, status=2)
                self.assertIn(says, said)
                self.assertIn("week.json", said)
                self.assertEqual(said.count("\n"), 1, said)

    def test_a_file_may_use_the_language_that_a_gpu_compiles(self):
        text = (ROOT / "solutions" / EXERCISE / FILE).read_text()
        text = text.replace("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n\n#include <concepts>")
        text += "\ntemplate <std::floating_point T>\nconstexpr T twice(T value) {\n  return 2 * value;\n}\n"
        text += "static_assert(twice(2.0f) == 4.0f);\n"
        exercise = json_grade(self.submission(text))["exercises"][0]
        self.assertEqual(exercise["refusal"], "")
        self.assertEqual(exercise["points"], exercise["most"])

    def test_a_program_that_ends_before_main_is_blamed_for_it(self):
        text = (ROOT / "solutions" / EXERCISE / FILE).read_text()
        text += "\nstatic const int early = [] { throw 1; return 0; }();\n"
        refusal = json_grade(self.submission(text))["exercises"][0]["refusal"]
        self.assertIn("cannot be judged: the exercise's program is gone", refusal)
        self.assertIn("before main", refusal)

    def test_an_array_that_is_too_large_is_told_in_words(self):
        text = (ROOT / "solutions" / EXERCISE / FILE).read_text()
        text += "\nstatic char large[4LL << 40];\nchar* begin_of_large() { return large; }\n"
        self.assertIn("the program is too large", json_grade(self.submission(text))["exercises"][0]["refusal"])

    def test_whatever_umask_the_grader_has_a_grade_is_the_same(self):
        file = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        usual = json_grade(file)
        self.assertEqual(without_seconds(json_grade(file, prepare=lambda: os.umask(0o077))), without_seconds(usual))

    def hindered(self, says, words=(), **how):
        """No verdict, which is no grade, and says why: in one line and in the result."""
        file = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        output = self.folder / "results.json"
        said = grade(file, "--format", "json", "--output", output, *words, status=74, **how)
        self.assertIn(says, said)
        self.assertEqual(said.count("\n"), 1, said)
        result = json.loads(output.read_text())
        self.assertTrue(result["error"].startswith("the grader did not finish: "), result["error"])
        self.assertIn(says, result["error"])
        self.assertEqual((result["points"], result["exercises"]), (0, []))

    def test_without_a_folder_for_its_files_there_is_no_verdict(self):
        self.hindered("set TMPDIR to a folder", TMPDIR="/nope")

    def test_without_addresses_there_is_no_verdict(self):
        self.hindered("ulimit -v unlimited", prepare=few_addresses)
        done = run_halo("try", "04", "--no-ask", prepare=few_addresses)
        self.assertEqual((done.returncode, done.stdout), (74, ""), done)
        self.assertIn("ulimit -v unlimited", done.stderr)

    def test_without_room_for_files_there_is_no_verdict(self):
        self.hindered("ulimit -f unlimited", prepare=small_files)

    def test_a_limit_of_stack_or_open_files_is_named(self):
        file = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        for kind, few, option in (resource.RLIMIT_STACK, 65_536, "ulimit -s"), (resource.RLIMIT_NOFILE, 16, "ulimit -n"):
            with self.subTest(option=option):
                allow_few = lambda: resource.setrlimit(kind, (few, few))
                said = grade(file, status=74, prepare=allow_few)
                self.assertRegex(said, rf"\Ahalo: [^\n]* {few} [^\n]*{option} [^\n]*\n\Z")
                self.assertEqual(run_halo("try", "--help", prepare=allow_few).returncode, 0)

    def test_on_a_full_disk_there_is_no_verdict(self):
        small = self.folder / "small"
        small.mkdir()
        within = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                  'mount -t tmpfs -o size=200k none "$0" && TMPDIR="$0" exec "$@"', small]
        if subprocess.run([*within, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount of one's own here")
        self.hindered("No space left on device", before=within, words=("--sandbox", "limits"))

    def test_a_time_is_only_told_where_there_is_a_gpu(self):
        solution = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        self.assertEqual(json_grade(solution)["exercises"][0]["time"], "")
        if pathlib.Path("/dev/nvidiactl").exists():
            timed = json_grade(solution, "--time")["exercises"][0]
            self.assertIn("of the time of the course's kernel", timed["time"])
            self.assertEqual(sum(case["points"] for case in timed["cases"]), timed["points"])
            wrong = json_grade(self.submission(WRONG, "bob"), "--time")["exercises"][0]
            self.assertEqual(wrong["time"], "not timed: only what comes out right is")
        else:
            self.assertRegex(grade(solution, "--time", status=77), r"\Ahalo: --time: .+\n\Z")

    def test_wrong_use_is_one_line(self):
        file = self.submission(ROOT / "solutions" / EXERCISE / FILE)
        short = self.folder / "short.json"
        short.write_text(json.dumps({"exercises": [{"name": "04"}, {"name": EXERCISE}]}))
        hunt = self.folder / "hunt.json"
        hunt.write_text(json.dumps({"exercises": [{"name": EXERCISE}], "hunts": [{"name": "03", "points": 5}]}))
        for words, status, says in [
            ((self.folder / "none",), 2, "there is no"),
            ((file, "--assignment", short), 2, f"short.json: '04' is to be named in full, '{EXERCISE}'"),
            ((file, "--assignment", hunt), 2, "hunt.json: '03' is to be named in full, '03_pooling'"),
            ((file, "--assignment", self.folder / "none.json"), 2, "none.json"),
            ((file, "--format", "gradscope"), 2, "gradescope"),
            ((file, "--exercise", "77"), 2, "no exercise '77'"),
            ((file, "--feedback", "much"), 2, "full"),
            ((file, "--require-sandbox", "steel"), 2, "namespaces"),
            ((file, "--output", self.folder / "no" / "r.json"), 74, "cannot write"),
            ((), 2, "./halo grade FILE"),
        ]:
            with self.subTest(words=words):
                said = grade(*words, status=status)
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)


if __name__ == "__main__":
    halo, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
