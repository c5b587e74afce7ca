"""The course of exercises holds together: each skeleton compiles and fails, each solution has all points,
other right programs pass, wrong ones fail where they should, lazy ones have little for it, and every exercise has its pages.

usage: course_test.py BUILD/tests/exercises [--sample] [--on gpu] [--table FILE] [unittest's options]

--sample takes of each exercise the skeleton, the solution, and one more, of another kind from exercise to exercise: a wrong
one of each kind of case that one names, a lazy one, another right one. --on gpu runs the solutions and the right ones on
the GPU, where nothing is counted or searched: only whether they are right, and how long they take. --table writes what
each program scored to a JSON file, from which the pages' table is made."""
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

from programs import ROOT, compilers, edited, exercises, fails_of, file_of, joined, others, program_of, source_of

REGION = re.compile(r"^ *// TODO (\d+):.*?^ *// END \1$\n", re.M | re.S)
CASE_POINTS = 100
SEED = "20240607"
ASSIGNMENT = ROOT / "solutions" / "assignment.json"
HIDDEN_POINTS = 30
MOST_WITHOUT_LESSON = 0.5  # of all points, hidden ones too

build = pathlib.Path(".")
on = "sim"
table = None
sample = False
results = {}
not_made = {}  # why
folders = {}  # of an exercise's wrong and lazy programs, where all are tried; or why they could not be made
left_out = collections.Counter()


def chosen(exercise):
    """The programs that are tried. Counts those that are left out."""
    tried = others(exercise)
    if sample:
        cases = run_check(build / f"../../exercises/check-{exercise}", None, None, ["--describe"])["cases"]
        first = {}
        for name in tried:
            fails = fails_of(exercise, name) if name.startswith("wrong_") else None
            first.setdefault(cases[fails]["category"] if fails in cases else name.split("_")[0], name)
        kinds = sorted(first)
        one = first[kinds[exercises().index(exercise) % len(kinds)]]
        left_out.update(name.split("_")[0] for name in tried if name != one)
        tried = [one]
    return ["skeleton", "solution", *tried]


def check(exercise, program):
    # Of a wrong one the case that it names, unless a table wants them all.
    named = fails_of(exercise, program) if program.startswith("wrong_") and not table else None
    cases = [named] if named else []
    if on == "sim" and program.startswith(("solution", "right_", "lazy_")):
        cases += ["--hidden", ASSIGNMENT]
    source = source_of(exercise, program)
    is_joined = exercise in folders and program.startswith(("wrong_", "lazy_"))
    if is_joined and isinstance(folders[exercise], str):
        raise ValueError(folders[exercise])
    made = folders[exercise] / program if is_joined else program_of(build.parent.parent, source)
    return run_check(build / f"../../exercises/check-{exercise}", made, source, cases)


def attempted(make, *words):
    """What it makes, or, a text, why not."""
    try:
        return make(*words)
    except ValueError as error:
        return str(error)


def run_check(of_exercise, program, source, more=()):
    """What the check tells of a program: its status, cases by name, questions, faults, and seconds."""
    tell, told = os.pipe()
    started = datetime.datetime.now()
    process = subprocess.Popen(
        [of_exercise, *(["--program", program, "--source", source] if program else []),
         "--seed", SEED, "--on", on, *more],
        env={**os.environ, "HALO_STREAM": str(told), "LD_LIBRARY_PATH": compilers(pathlib.Path(of_exercise).parent.parent)[on]}, pass_fds=[told],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    os.close(told)
    said = []
    reader = threading.Thread(target=lambda: said.append(process.communicate()[0]))
    reader.start()
    with os.fdopen(tell) as lines:
        heard = [json.loads(line) for line in lines]
    reader.join()
    status = process.returncode
    time = re.search(r"^time: (.*)$", said[0], re.M)
    points = re.search(r"^points: (.*) of", said[0], re.M)
    cases = {one["case"]: one for one in heard if "case" in one}
    heads = [one for one in heard if "marks" in one]
    hidden = {name: one for name, one in cases.items() if one.get("hidden")}
    cases = {name: one for name, one in cases.items() if name not in hidden}
    return {"status": status, "said": said[0], "cases": cases, "hidden": hidden, "time": time.group(1) if time else None,
            "questions": heads[-1]["questions"] if heads else [],
            "faults": [one for one in heard if "hazards" in one],
            "points": float(points.group(1)) if points else 0,
            "seconds": (datetime.datetime.now() - started).total_seconds()}


class Course(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jobs = [(exercise, program) for exercise in exercises() for program in chosen(exercise)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            if not sample:
                made = pool.map(lambda exercise: attempted(joined, build.parent.parent, exercise), exercises())
                folders.update(zip(exercises(), made))
            for job, result in zip(jobs, pool.map(lambda job: attempted(check, *job), jobs)):
                (not_made if isinstance(result, str) else results)[job] = result

    def each(self, kind, judge):
        """Calls judge(exercise, program, result) for all programs of a kind, at least one."""
        of_kind = [job for job in results if job[1] == kind or job[1].startswith(kind + "_")]
        self.assertTrue(of_kind, f"no {kind} was checked")
        for exercise, program in of_kind:
            with self.subTest(exercise=exercise, program=program):
                judge(exercise, program, results[exercise, program])

    def require_all_points(self, _exercise, _program, result):
        bad = {name: one.get("message") for name, one in result["cases"].items() if one["outcome"] != "PASS"}
        self.assertEqual(bad, {})
        self.assertEqual(result["status"], 0, result["said"])
        self.assertEqual(result["points"], CASE_POINTS + HIDDEN_POINTS)

    def test_there_are_exercises_and_each_is_built(self):
        self.assertGreater(len(exercises()), 0)
        for exercise in exercises():
            with self.subTest(exercise=exercise):
                self.assertTrue((build / f"../../exercises/check-{exercise}").exists(),
                                "not named in exercises/meson.build")

    def test_each_program_can_be_made(self):
        for (exercise, program), why in sorted(not_made.items()):
            with self.subTest(exercise=exercise, program=program):
                self.fail(why)

    def test_an_edit_that_does_not_fit_its_file_is_one_line(self):
        edit = {"id": "wrong_gone", "file": source_of("04_tile_and_halo", "solution"), "find": "no such text", "replace": ""}
        with self.assertRaisesRegex(ValueError, r"^solutions/\S+ has text 1 of the edit wrong_gone 0 times$"):
            edited(edit)

    def test_a_skeleton_compiles_and_fails(self):
        def judge(_exercise, _program, result):
            self.assertEqual(result["status"], 1, result["said"])
            self.assertEqual(result["points"], 0)
        self.each("skeleton", judge)

    def test_a_solution_has_all_points(self):
        self.each("solution", self.require_all_points)

    def test_programs_that_are_right_in_another_way_have_all_points(self):
        for exercise in exercises():
            right = [name for name in others(exercise) if name.startswith("right_")]
            self.assertGreaterEqual(len(right), 3, exercise)
        self.each("right", self.require_all_points)

    def test_wrong_programs_fail_the_case_that_they_name(self):
        def judge(exercise, program, result):
            named = fails_of(exercise, program)
            self.assertIsNotNone(named, "its first line is no '// Wrong. Fails: CASE'")
            self.assertIn(named, result["cases"])
            self.assertEqual(result["cases"][named]["outcome"], "FAIL")
            self.assertEqual(result["status"], 1, result["said"])
            kinds.add(result["cases"][named]["category"])
        kinds = set()
        self.each("wrong", judge)
        self.assertEqual(kinds, {"correctness", "safety"})

    def test_lazy_programs_are_correct_and_safe_and_have_less_than_the_lesson_is_worth(self):
        for exercise in exercises():
            lazy = [name for name in others(exercise) if name.startswith("lazy_")]
            self.assertGreaterEqual(len(lazy), 2, exercise)

        def judge(exercise, program, result):
            cases = {**result["cases"], **result["hidden"]}
            bad = [name for name, one in cases.items() if one["outcome"] != "PASS"]
            self.assertIn(fails_of(exercise, program), bad)
            self.assertEqual({cases[name]["category"] for name in bad}, {"budget"}, bad)
            most = sum(one["most"] for one in cases.values())
            self.assertEqual(most, CASE_POINTS + HIDDEN_POINTS)
            self.assertLessEqual(result["points"], MOST_WITHOUT_LESSON * most)
        self.each("lazy", judge)

    def test_the_answer_of_a_question_is_what_the_solution_counts(self):
        def judge(exercise, _program, result):
            self.assertGreaterEqual(len(result["questions"]), 3)
            for question in result["questions"]:
                self.assertIn("counted", question)
                self.assertAlmostEqual(question["counted"], question["answer"],
                                       delta=question["tolerance"] + 1e-9, msg=question["key"])
            predictions = (ROOT / "exercises" / exercise / "start_predictions.txt").read_text()
            self.assertEqual(re.findall(r"^(\w+) *=", predictions, re.M),
                             [question["key"] for question in result["questions"]])
        self.each("solution", judge)

    def test_hidden_cases_pass_what_is_right_and_have_their_points(self):
        def judge(_exercise, _program, result):
            self.assertGreaterEqual(len(result["hidden"]), 2)
            self.assertEqual({one["outcome"] for one in result["hidden"].values()}, {"PASS"}, result["hidden"])
            self.assertEqual(sum(one["points"] for one in result["hidden"].values()), HIDDEN_POINTS)
        self.each("solution", judge)
        self.each("right", judge)

    def test_the_cases_that_a_check_describes_are_those_that_it_judges(self):
        def judge(exercise, _program, result):
            told = run_check(build / f"../../exercises/check-{exercise}", None, None, ["--describe", "--hidden", ASSIGNMENT])
            self.assertEqual(told["status"], 0, told["said"])
            for part in ("cases", "hidden"):
                self.assertEqual([(one["case"], one["category"], one["most"], one["points"], one["outcome"])
                                  for one in told[part].values()],
                                 [(one["case"], one["category"], one["most"], 0, "NOT RUN")
                                  for one in result[part].values()])
            self.assertEqual([one["key"] for one in told["questions"]],
                             [one["key"] for one in result["questions"]])
        self.each("solution", judge)

    def test_what_a_hidden_case_says_of_a_wrong_program_tells_nothing_of_its_problems(self):
        def judge(exercise, program, _result):
            source = source_of(exercise, program)
            result = run_check(build / f"../../exercises/check-{exercise}", program_of(build.parent.parent, source), source,
                               ["--hidden", ASSIGNMENT])
            for name, one in result["hidden"].items():
                self.assertNotRegex(one.get("message", ""), r"[\d\[]", name)
                self.assertNotIn("budget", one)
            failed.update((exercise, name) for name, one in result["hidden"].items() if one["outcome"] == "FAIL")
            groups = {row["variant"] for row in result["faults"]}
            self.assertFalse(groups & {*result["hidden"], "hidden"})
        failed = set()
        for exercise, program in [("00_first_program", "wrong_no_guard"), ("04_tile_and_halo", "wrong_small_tile"),
                                  ("05_shuffles", "wrong_returns_early")]:
            with self.subTest(exercise=exercise, program=program):
                judge(exercise, program, None)
        self.assertTrue(failed, "none of them fails a hidden case")

    def test_what_the_course_frees_is_no_finding_of_the_simulators(self):
        for (exercise, program), result in results.items():
            with self.subTest(exercise=exercise, program=program):
                self.assertNotIn("freed before", result["said"])

    def test_a_problem_that_no_program_could_be_given_is_not_traced(self):
        exercise, source = "04_tile_and_halo", source_of("04_tile_and_halo", "solution")
        for numbers, says in [("8,3", "has 2 numbers, should have 3: n,width,threads"), ("-8,3,8", "has n -8"),
                              ("8,4,8", "width 4, should be odd"), ("99999999999999999999,3,8", "should be 1 to ")]:
            with self.subTest(numbers=numbers):
                result = run_check(build / f"../../exercises/check-{exercise}",
                                   program_of(build.parent.parent, source), source, ["--trace", numbers])
                self.assertEqual(result["status"], 2, result["said"])
                self.assertRegex(result["said"], rf"\A--numbers: a problem of {exercise} .*{re.escape(says)}.*\n\Z")

    def test_every_category_and_every_case_has_points(self):
        def judge(_exercise, _program, result):
            self.assertEqual({one["category"] for one in result["cases"].values()},
                             {"correctness", "safety", "budget"})
            for name, one in result["cases"].items():
                self.assertGreater(one["most"], 0, name)
        self.each("solution", judge)

    def test_skeleton_and_solution_agree_outside_the_regions(self):
        for exercise in exercises():
            with self.subTest(exercise=exercise):
                texts = [(ROOT / source_of(exercise, kind)).read_text() for kind in ("skeleton", "solution")]
                regions = [REGION.findall(text) for text in texts]
                self.assertGreater(len(regions[0]), 0)
                self.assertEqual(regions[0], regions[1])
                self.assertEqual(*[REGION.sub(r"TODO \1\n", text) for text in texts])
                self.assertNotIn("TODO", REGION.sub("", texts[0]))

    def test_git_leaves_a_students_files_alone(self):
        if not (ROOT / ".git").exists():
            self.skipTest("no git here")
        own = [f"exercises/{exercise}/{file}" for exercise in exercises()
               for file in (file_of(exercise), "predictions.txt", "answers.md")]
        own.append("exercises/hunts/01_signal.cu")
        ignored = subprocess.run(["git", "-C", ROOT, "check-ignore", *own], capture_output=True, text=True)
        self.assertEqual(ignored.stdout.splitlines(), own)
        tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-ci", "--exclude-standard", "exercises"], capture_output=True,
                                 text=True, check=True)
        self.assertEqual(tracked.stdout, "")

    def test_each_exercise_has_its_pages(self):
        for exercise in exercises():
            folder = ROOT / "exercises" / exercise
            with self.subTest(exercise=exercise):
                hints = re.findall(r"^## (\d)$", (folder / "hints.md").read_text(), re.M)
                self.assertEqual(hints, ["1", "2", "3"])
                page = (folder / "README.md").read_text()
                self.assertTrue(page.startswith(f"# {exercise[:2]} · "))
                self.assertIn(file_of(exercise), page)
                self.assertIn(f"./halo try {exercise[:2]}", page)
                questions = [len(re.findall(r"^\d\. ", (ROOT / file).read_text(), re.M)) for file in
                             (f"exercises/{exercise}/start_answers.md", f"solutions/{exercise}/answers.md")]
                self.assertEqual(questions, [2, 2])
                pages = list((ROOT / "docs").glob(f"{exercise[:2]}_*.md"))
                self.assertTrue(pages)
                self.assertTrue(any(f"exercises/{exercise}" in one.read_text() for one in pages),
                                f"no page leads to exercises/{exercise}")


class OnGpu(unittest.TestCase):
    def test_what_is_right_in_the_simulator_is_right_on_the_gpu(self):
        jobs = [(exercise, program) for exercise in exercises()
                for program in ["solution", *others(exercise)] if not program.startswith("wrong_")]
        self.assertTrue(jobs)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda job: program_of(build.parent.parent, source_of(*job)), jobs))
        # One after the other: they are timed.
        for job in jobs:
            with self.subTest(exercise=job[0], program=job[1]):
                result = results[job] = check(*job)
                self.assertEqual(result["status"], 0, result["said"])
                right = [one["outcome"] for one in result["cases"].values() if one["category"] == "correctness"]
                self.assertTrue(right)
                self.assertEqual(set(right), {"PASS"})


def counted(counts):
    return " and ".join(f"{count} {sort} program{'s' * (count > 1)}" for sort, count in sorted(counts.items()))


def write_table(path):
    rows = [{"exercise": exercise, "program": program, "points": result["points"],
             "most": sum(one["most"] for one in [*result["cases"].values(), *result["hidden"].values()]),
             "failed": sorted(name for name, one in {**result["cases"], **result["hidden"]}.items() if one["outcome"] == "FAIL"),
             "seconds": round(result["seconds"], 2), **({"time": result["time"]} if result["time"] else {})}
            for (exercise, program), result in results.items()]
    write_rows(path, f"tests/exercises/course_test.py --on {on} --table", rows)


def write_rows(path, command, rows):
    head = {"command": command, "seed": int(SEED), "date": datetime.date.today().isoformat()}
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    path.write_text(json.dumps(head)[:-1] + ',\n "rows": [\n' + lines + "\n ]}\n")


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    if "--table" in sys.argv:
        at = sys.argv.index("--table")
        table = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    if "--on" in sys.argv:
        at = sys.argv.index("--on")
        on = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    tests = unittest.main(exit=False, defaultTest="OnGpu" if on == "gpu" else "Course")
    if table and tests.result.wasSuccessful():
        write_table(table)
    print(f"checked: {len(results)} programs of {len(exercises())} exercises")
    if left_out:
        print(f"left out: {counted(left_out)} (--all)")
    sys.exit(not tests.result.wasSuccessful())
