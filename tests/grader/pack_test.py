"""Copies of the course, made as anybody makes them and read file by file: what students must not have is in none of
theirs, and what they need is.

usage: pack_test.py HALO_CLI [unittest's options]"""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"((?:common|stages|exercises|solutions|tests)/[^"]*)"', re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)(?:#[^)]*)?\)")

# Plays the command where a bundle is prepared.
GRADES = r"""#!/bin/sh
echo "$2" >>graded
case $2 in
  solutions/*) echo '"outcome": "passed"' ;;
  *) echo '"message": "not yet"'; exit 1 ;;
esac
"""

halo = None


def run(*words, of=None, at=ROOT):
    return subprocess.run([of or halo, *words], cwd=at, capture_output=True, text=True, check=False)


def squeezed(line):
    return re.sub(r"\s+", "", line)


def solution_runs():
    """Runs of lines that stand in a solution and not in its skeleton, without spaces: the text of its regions. (A
    single line, and a run of short ones, may well stand in a stage's kernel.) By run, where it is from."""
    runs = {}
    for solution in sorted((ROOT / "solutions").glob("*/*.cu")):
        skeleton = ROOT / "exercises" / solution.parent.name / "start.cu"
        if solution.parent.name == "hunts":
            continue  # all but a line of it is in the hunt
        given = {squeezed(line) for line in skeleton.read_text().splitlines()}
        lines = [squeezed(line) for line in solution.read_text().splitlines()]
        lines = [line for line in lines if line]
        for length, letters in ((2, 110), (3, 90), (4, 80)):
            for i in range(len(lines) - length + 1):
                part = lines[i:i + length]
                if not any(line in given for line in part) and sum(map(len, part)) > letters:
                    runs[tuple(part)] = solution.parent.name
    return runs


class Copies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        cls.student = cls.at / "student"
        assignment = cls.at / "assignment.json"
        assignment.write_text(json.dumps({"seed": 7, "exercises": [
            {"name": name, "hidden": []} for name in ("04_tile_and_halo", "05_shuffles", "06_separable")]}))
        cls.assignment = ["--assignment", str(assignment)]
        done = run("pack", "student", str(cls.student))
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.files = {p.relative_to(cls.student).as_posix(): p for p in cls.student.rglob("*") if p.is_file()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Student(Copies):
    def test_nothing_of_what_is_left_out_is_there(self):
        self.assertGreater(len(self.files), 500)
        for path in self.files:
            with self.subTest(path=path):
                self.assertFalse(path.startswith(("solutions/", ".git/", ".ci/", "tests/grader/")))
                self.assertFalse(path.startswith("common/grader/"))
                self.assertNotRegex(path, r"(^|/)(right|wrong)_|assignment\.json|answers\.json|progress\.json")
                self.assertNotRegex(path, r"_test\.(cpp|py)$")

    def test_an_archive_that_cannot_be_written_is_one_line_with_the_reason(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        archive = self.at / "large.zip"
        # Python ignores the signal of this limit, and so does what it starts.
        done = subprocess.run([halo, "pack", "student", archive], cwd=ROOT, capture_output=True, text=True,
                              check=False, preexec_fn=limit, restore_signals=False)
        self.assertEqual((done.returncode, done.stderr), (74, f"halo: cannot write '{archive}': File too large\n"))
        self.assertFalse(archive.exists())

    def test_no_text_of_a_solution_is_in_any_file(self):
        runs = solution_runs()
        exercises = {p.name for p in (ROOT / "exercises").glob("[0-9][0-9]_*")}
        self.assertEqual(set(runs.values()), exercises)
        first = {}
        for part, where in runs.items():
            first.setdefault(part[0], []).append((list(part), where))
        for path, file in self.files.items():
            if path.endswith("/hints.md"):  # the last hint of three tells a good deal, and is asked for
                continue
            lines = [squeezed(line) for line in file.read_bytes().decode("utf-8", "replace").splitlines()]
            lines = [line for line in lines if line]
            for i, line in enumerate(lines):
                for part, where in first.get(line, ()):
                    self.assertNotEqual(lines[i:i + len(part)], part, f"{path} has a part of {where}")

    def test_the_search_finds_a_solution_that_is_there(self):
        solution = (ROOT / "solutions/04_tile_and_halo/tile_and_halo.cu").read_text()
        lines = [squeezed(line) for line in solution.splitlines() if squeezed(line)]
        self.assertTrue(any(tuple(lines[i:i + 4]) in solution_runs() for i in range(len(lines))))

    def test_no_hidden_case_and_no_answer_of_a_hunt_is_in_any_file(self):
        if not (ROOT / "solutions/assignment.json").exists():
            self.skipTest("this course has no hidden cases")
        assignment = json.loads((ROOT / "solutions/assignment.json").read_text())
        secrets = {json.dumps(case["name"]) for one in assignment["exercises"] for case in one.get("hidden", [])}
        answers = json.loads((ROOT / "solutions/hunts/answers.json").read_text())
        for answer in answers.values() if isinstance(answers, dict) else answers:
            if isinstance(answer, dict):
                secrets.update(v for v in answer.values() if isinstance(v, str) and len(v) > 40)
        self.assertGreater(len(secrets), 20)
        for path, file in self.files.items():
            text = file.read_bytes().decode("utf-8", "replace")
            for secret in secrets:
                self.assertFalse(secret in text, f"{path} says: {secret}")

    def test_exercises_are_as_they_begin(self):
        sources = [p for p in self.files if p.startswith("exercises/") and p.endswith(".cu")]
        self.assertGreater(len(sources), 50)
        for path in sources:
            self.assertRegex(path, r"/start\.cu$|^exercises/hunts/start/")
        # The copy is the student's own, whose work may be kept in it.
        self.assertNotIn("exercises/.gitignore", self.files)

    def test_every_file_that_is_included_or_linked_to_is_there(self):
        included = linked = 0
        for path, file in self.files.items():
            # Those of pages are excerpts, which nothing here compiles.
            if file.suffix in (".cpp", ".hpp", ".h", ".cu", ".cuh") and not path.startswith("docs/"):
                for name in INCLUDE.findall(file.read_text(errors="replace")):
                    # Some are made by the build.
                    if (ROOT / name).exists():
                        self.assertTrue(name in self.files, f"{path} includes {name}")
                        included += 1
            if file.suffix == ".md":
                for name in LINK.findall(file.read_text()):
                    if ":" in name or not (ROOT / path).parent.joinpath(name).exists():
                        continue
                    self.assertTrue((file.parent / name).exists(), f"{path} links to {name}")
                    linked += 1
        self.assertGreater(included, 500)
        self.assertGreater(linked, 100)

    def test_the_build_can_be_set_up(self):
        if shutil.which("meson") is None:
            self.skipTest("no meson")
        done = subprocess.run(["meson", "setup", str(self.at / "build"), str(self.student), "-Dcuda=disabled",
                               "-Dtests=auto"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        targets = {one["name"] for one in json.loads(
            (self.at / "build/meson-info/intro-targets.json").read_text())}
        self.assertIn("halo-cli", targets)
        self.assertIn("check-04_tile_and_halo", targets)
        tests = json.loads((self.at / "build/meson-info/intro-tests.json").read_text())
        self.assertEqual(tests, [])

    def test_a_roster_gives_each_an_archive_with_a_seed_of_its_own(self):
        roster = self.at / "roster.csv"
        roster.write_text("name,id\nA,s1\nB,s2\n")
        all_, one = self.at / "all", self.at / "one"
        done = run("pack", "student", str(all_), "--roster", str(roster), "--seed", "7")
        if "libarchive" in done.stderr:
            self.skipTest("no libarchive")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(p.name for p in all_.iterdir()), ["s1.zip", "s2.zip"])
        seeds = {}
        for student in ("s1", "s2"):
            with zipfile.ZipFile(all_ / f"{student}.zip") as archive:
                self.assertEqual(len(archive.namelist()), len(self.files) + 1)
                said = json.loads(archive.read("halo/exercises/student.json"))
                # The external attributes of Unix: the script can be run.
                self.assertTrue(archive.getinfo("halo/halo").external_attr >> 16 & 0o100)
            self.assertEqual(said["student"], student)
            seeds[student] = said["seed"]
        self.assertNotEqual(seeds["s1"], seeds["s2"])
        # As halo grade has to derive it, on any machine.
        digest = hashlib.sha256(b"7\ns1").hexdigest()
        self.assertEqual(seeds["s1"], int(digest[:15], 16) % 1_000_000_000 + 1)
        done = run("pack", "student", str(one), "--roster", str(roster), "--student", "s2", "--seed", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(seeds["s2"]), done.stdout)
        self.assertEqual(json.loads((one / "exercises/student.json").read_text())["seed"], seeds["s2"])

    def test_a_wrong_use_is_one_line(self):
        roster = self.at / "few.csv"
        roster.write_text("id\ns1\n../s2\n")
        nobody = self.at / "nobody.csv"
        nobody.write_text("id,name\rs1,Ada\rs2,Bo\r")  # lines as of an old Macintosh
        week, short = self.at / "week.json", self.at / "short.json"
        for file, name in ((week, "04_tile_and_halo"), (short, "04")):
            file.write_text(json.dumps({"seed": 0, "exercises": [{"name": name}]}))
        for words, code, says in [
            (["student"], 2, "needs a folder or an archive"),
            (["pupil", "x"], 2, "'pupil' is not one of student, instructor"),
            (["student", str(self.student)], 74, "not an empty folder"),
            (["student", str(self.at / "z.rar")], 2, "are written as .zip"),
            (["student", str(self.at / "no" / "x"), "--student", "all"], 2, "--roster"),
            (["student", str(self.at / "z"), "--roster", str(roster), "--student", "s3"], 2, "nobody in"),
            (["student", str(self.at / "z"), "--roster", str(roster)], 2, "cannot be a file's name"),
            (["student", str(self.at / "z"), "--roster", str(nobody)], 2, "there is nobody"),
            (["gradescope", str(self.at / "z.zip"), "--exercises", "77", *self.assignment], 2, "no exercise '77'"),
            (["github", str(self.at / "z"), "--exercises", "05", "--assignment", str(week)], 2, "has no exercise '05'"),
            (["github", str(self.at / "z"), "--assignment", str(short)], 2, "'04' is to be named in full"),
            (["gradescope", str(self.at / "z.zip"), "--seed", "3"], 2, "of students' copies"),
            (["student", str(self.at / "z"), "--exercises", "04"], 2, "of platforms' bundles"),
            (["student", str(self.at / "z"), "--student", "s1", "--assignment", str(week)], 2, "has no seed"),
            (["student", str(self.at / "z"), "--seed", "3"], 2, "--roster or --student"),
            (["student", str(self.at / "z"), "--assignment", str(week)], 2, "--roster or --student"),
            (["instructor", str(self.at / "z"), "--assignment", str(week)], 2, "of platforms' bundles"),
        ]:
            with self.subTest(words=words):
                done = run("pack", *words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertFalse((self.at / "z").exists())


class Others(Copies):
    def test_an_instructors_copy_can_be_packed_again(self):
        copy = self.at / "instructor"
        done = run("pack", "instructor", str(copy))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = (copy / "MANIFEST").read_text().splitlines()
        self.assertIn("solutions/04_tile_and_halo/tile_and_halo.cu", names)
        self.assertIn("INSTRUCTOR.md", names)
        self.assertFalse((copy / ".git").exists())
        # The program takes the folder from what it was built in: a build folder that names this copy.
        build = self.at / "of_copy"
        shutil.copytree(pathlib.Path(halo).parent.parent.parent / "meson-info", build / "meson-info")
        information = build / "meson-info/meson-info.json"
        said = json.loads(information.read_text())
        said["directories"]["source"] = str(copy)
        said["directories"]["build"] = str(build)
        information.write_text(json.dumps(said))
        again = self.at / "again"
        done = run("--build", str(build), "pack", "student", str(again))
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {p.relative_to(again).as_posix() for p in again.rglob("*") if p.is_file()}
        self.assertEqual(files, set(self.files))
        (copy / "MANIFEST").unlink()
        done = run("--build", str(build), "pack", "student", str(self.at / "none"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither .git nor MANIFEST", done.stderr)

    def test_gradescope_gets_its_two_files_and_the_course_with_these_exercises(self):
        zip_ = self.at / "gradescope.zip"
        done = run("pack", "gradescope", str(zip_), "--exercises", "05,04", *self.assignment)
        if "libarchive" in done.stderr:
            self.skipTest("no libarchive")
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(zip_) as archive:
            names = archive.namelist()
            for name in ("setup.sh", "run_autograder"):
                self.assertIn(name, names)
                self.assertTrue(archive.getinfo(name).external_attr >> 16 & 0o100)
                self.assertTrue(archive.read(name).startswith(b"#!/bin/sh\n"))
            self.assertIn("course/solutions/04_tile_and_halo/tile_and_halo.cu", names)
            self.assertIn("course/common/grader/bundles/prepare.sh", names)
            assignment = json.loads(archive.read("course/solutions/assignment.json"))
        self.assertEqual(sorted(one["name"] for one in assignment["exercises"]), ["04_tile_and_halo", "05_shuffles"])

    def test_an_image_is_prepared_for_the_exercises_and_hunts_of_the_usual_assignment(self):
        course = self.at / "prepared"
        for name in ("common/grader/bundles/prepare.sh", "solutions/assignment.json"):
            (course / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, course / name)
        assignment = json.loads((course / "solutions/assignment.json").read_text())
        for exercise in assignment["exercises"]:
            (course / "solutions" / exercise["name"]).mkdir()
        (course / "tests").mkdir()
        tools = self.at / "tools"
        tools.mkdir()
        (course / "halo").write_text(GRADES)
        (tools / "apt-get").write_text("#!/bin/sh\n")
        for tool in (course / "halo", tools / "apt-get"):
            tool.chmod(0o755)
        done = subprocess.run(["sh", course / "common/grader/bundles/prepare.sh"], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names = sorted(one["name"] for one in assignment["exercises"])
        self.assertEqual((course / "graded").read_text().split(),
                         [f"solutions/{name}/{name[3:]}.cu" for name in names] + ["exercises/hunts/start"])
        for hunt in assignment["hunts"]:
            self.assertIn(hunt["name"], done.stdout)

    def test_the_other_platforms_get_theirs(self):
        prairielearn = self.at / "prairielearn"
        self.assertEqual(run("pack", "prairielearn", str(prairielearn), "--exercises", "04", *self.assignment).returncode, 0)
        options = json.loads((prairielearn / "info.json").read_text())["externalGradingOptions"]
        self.assertLessEqual(set(options), {"enabled", "image", "entrypoint", "serverFilesCourse", "timeout",
                                            "enableNetworking", "environment"})
        self.assertLessEqual(options["timeout"], 600)
        self.assertTrue(os.access(prairielearn / "run.sh", os.X_OK))
        self.assertTrue((prairielearn / "course/solutions/assignment.json").exists())

        github = self.at / "github"
        self.assertEqual(run("pack", "github", str(github), "--exercises", "4,05,04", *self.assignment).returncode, 0)
        files = [p for p in github.rglob("*") if p.is_file()]
        self.assertEqual([p.name for p in files], ["classroom.yml"])
        text = files[0].read_text()
        self.assertNotIn("@E", text)
        self.assertEqual(re.findall(r"command: (.*)", text), ["./halo try 04 --no-ask", "./halo try 05 --no-ask"])
        self.assertIn("runners: exercise04,exercise05", text)
        self.assertIn('EXERCISE05_RESULTS: "${{steps.exercise05.outputs.result}}"', text)

        # Autolab takes no score of a problem that it does not know.
        week = self.at / "week.json"
        week.write_text(json.dumps({"exercises": [{"name": "04_tile_and_halo"}],
                                    "hunts": [{"name": "03_pooling", "points": 5}]}))
        whole = self.at / "whole"
        if "libarchive" not in run("pack", "autolab", str(whole), "--assignment", str(week)).stderr:
            self.assertIn(": 04_tile_and_halo, hunts/03_pooling.", (whole / "autograde-Makefile").read_text())

        autolab = self.at / "autolab"
        done = run("pack", "autolab", str(autolab), "--exercises", "04", *self.assignment)
        if "libarchive" in done.stderr:
            self.skipTest("no libarchive")
        self.assertEqual(sorted(p.name for p in autolab.iterdir()), ["autograde-Makefile", "autograde.tar"])
        with tarfile.open(autolab / "autograde.tar") as archive:
            self.assertIn("course/solutions/assignment.json", archive.getnames())
        self.assertIn("04_tile_and_halo", (autolab / "autograde-Makefile").read_text())


if __name__ == "__main__":
    halo = os.path.abspath(sys.argv.pop(1))
    unittest.main()
