"""`halo grade --class` with a real check: a class of a few, its files, shards, and a run that is interrupted.

usage: grade_class_test.py HALO_CLI BUILD [unittest's options]"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXERCISE, FILE = "04_tile_and_halo", "tile_and_halo.cu"
SOLUTION = ROOT / "solutions" / EXERCISE / FILE
SKELETON = ROOT / "exercises" / EXERCISE / "start.cu"

halo = build = None


def command(*words):
    return [str(word) for word in (halo, "--build", build, "grade", *words)]


def run(*words, status=0):
    done = subprocess.run(command(*words), capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


class Classes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.submissions = self.folder / "submissions"
        self.submissions.mkdir()

    def hand_in(self, name, source=SOLUTION):
        shutil.copy(source, self.submissions / f"{name}_{FILE}")

    def grade(self, results, *words, status=0):
        return run("--class", self.submissions, "--exercise", "04", "--results", self.folder / results, *words,
                   status=status)

    def rows(self, results):
        with open(self.folder / results / "class.csv", newline="", encoding="utf-8") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def test_a_class_has_the_grades_that_each_would_have_alone(self):
        self.hand_in("ada")
        (self.submissions / "bo.pdf").write_bytes(b"%PDF")
        with zipfile.ZipFile(self.submissions / "cy.zip", "w") as out:
            out.write(SKELETON, f"{EXERCISE}/{FILE}")
        roster = self.folder / "roster.csv"
        roster.write_text("id,name\nada,Ada\nbo,Bo\ncy,Cy\ndee,Dee\n")
        said = self.grade("whole", "--jobs", 2, "--roster", roster)
        self.assertIn("4 students: 2 graded, 1 refused, 1 nothing handed in\n", said)
        self.assertIn("3 graded now, 0 kept", said)
        rows = self.rows("whole")
        self.assertEqual(list(rows), ["ada", "bo", "cy", "dee"])
        alone = json.loads(run(self.submissions / f"ada_{FILE}", "--exercise", "04", "--format", "json"))
        self.assertEqual(float(rows["ada"]["points"]), alone["points"])
        self.assertEqual({float(row["most"]) for row in rows.values()}, {alone["most"]})
        self.assertEqual([rows[name]["points"] for name in ("bo", "cy", "dee")], ["0", "0", "0"])
        self.assertIn("is no .cu file", rows["bo"]["message"])

        # The same by shards, and nothing is graded twice.
        for shard in ("2/2", "1/2"):
            self.assertIn(f"shard {shard[0]} of 2", self.grade("shards", "--shard", shard, "--roster", roster))
        self.assertIn("0 graded now, 3 kept", self.grade("shards", "--roster", roster))
        self.assertEqual(*((self.folder / results / "class.csv").read_bytes() for results in ("whole", "shards")))
        self.assertIn("3 graded now, 0 kept", self.grade("shards", "--roster", roster, "--seed", 7))

        # Who handed in twice has no grade: a script that grades is told so, too.
        (self.submissions / "ada.zip").touch()
        self.grade("whole", "--roster", roster, status=74)
        self.assertEqual({name: row["status"] for name, row in self.rows("whole").items()},
                         {"ada": "error", "bo": "refused", "cy": "graded", "dee": "nothing handed in"})

    def test_an_interrupted_run_ends_cleanly_and_is_gone_on_with(self):
        names = "abcd"
        for name in names:
            self.hand_in(name)
        running = subprocess.Popen(
            command("--class", self.submissions, "--exercise", "04", "--results", self.folder / "out", "--jobs", 1),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.folder / "out" / "grades" / f"a_{FILE[:-3]}.json"
        while not first.exists() and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        said = running.communicate()[1]
        self.assertEqual(running.returncode, 128 + signal.SIGINT, said)
        # One, unless this test was held up before the signal.
        graded = len(list(first.parent.iterdir()))
        self.assertIn(f"interrupted: {graded} were graded; the same command continues", said)
        self.assertTrue(first.exists())
        self.assertIn(f"{len(names) - graded} graded now, {graded} kept", self.grade("out"))

    def test_a_class_is_not_begun_where_a_right_file_has_no_grade(self):
        self.hand_in("ada")
        small = self.folder / "small"
        small.mkdir()
        within = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                  'mount -t tmpfs -o size=200k none "$0" && TMPDIR="$0" exec "$@"', small]
        if subprocess.run([*within, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount of one's own here")
        words = command("--class", self.submissions, "--exercise", "04", "--results", self.folder / "out",
                        "--sandbox", "limits")
        done = subprocess.run([*within, *words], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (74, ""), done)
        self.assertRegex(done.stderr, "halo: no submission was graded: solutions/04.*No space left on device")
        self.assertEqual(list((self.folder / "out" / "grades").iterdir()), [])
        self.assertIn("1 graded now, 0 kept", self.grade("out", "--sandbox", "limits"))

    def test_what_else_lies_among_the_submissions_is_none(self):
        self.hand_in("ada")
        roster, assignment = self.submissions / "roster.csv", self.submissions / "week.json"
        roster.write_text("id\nada\n")
        assignment.write_text(json.dumps({"exercises": [{"name": EXERCISE}]}))
        for results in ("submissions/results", "submissions"):
            for expected in ("1 graded now, 0 kept", "0 graded now, 1 kept"):
                with self.subTest(results=results, expected=expected):
                    said = self.grade(results, "--roster", roster, "--assignment", assignment)
                    self.assertIn("1 student: 1 graded\n", said)
                    self.assertIn(expected, said)
            shutil.rmtree(self.submissions / "results", ignore_errors=True)

    def test_wrong_use_is_one_line(self):
        self.hand_in("ada")
        for words, says in [
            (("--class", self.folder / "none"), "there is no folder or list of submissions"),
            (("--class", self.submissions, "--shard", "3/2"), "--shard"),
            (("--class", self.submissions, "--shard", "2"), "the second of five"),
            (("--class", self.submissions, "--jobs", "0"), "--jobs"),
            (("--class", self.submissions, "--roster", self.folder / "none"), "cannot read"),
            (("--class", self.submissions, "--assignment", self.folder / "none"), "none"),
            (("--roster", "x", self.submissions), "--roster needs --class"),
            (("--results", "x", self.submissions), "--results needs --class"),
            (("--submission-limit", "5", self.submissions), "--submission-limit needs --class"),
            (("--class", self.submissions, self.submissions / f"ada_{FILE}"), f"ada_{FILE}' is of one submission"),
            (("--class", self.submissions, "--student", "ada"), "--student is of one submission"),
            (("--class", self.submissions, "--output", "x"), "--output is of one submission"),
            (("--class", self.submissions, "--format", "json"), "--format is of one submission"),
            (("--class", self.submissions, "--feedback", "kind"), "--feedback is of one submission"),
        ]:
            with self.subTest(words=words):
                said = run(*words, status=2)
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)


if __name__ == "__main__":
    halo, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
