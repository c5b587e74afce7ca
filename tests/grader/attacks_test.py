"""Hostile submissions, each graded as it would be: it has the points and is told the words that its first line
names, and nothing is harmed.

usage: attacks_test.py HALO_CLI BUILD [--sample] [--record FILE.csv] [unittest's options]

What they are: attacks.py. --sample takes one of each kind. --record writes what each was told: docs/results/attacks.csv, of which
docs/results/make_kill_table.py makes its part of the page."""
import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from attacks import ROOT, exercise_of, head_of, names, text_of

LEAST = 120
# Against the file's text, the compiler, the limits, the judge's line, the device, the counts, the hidden cases, what is outside.
SAMPLE = ["00_forges_the_report", "00_overwrites_its_report", "00_reads_in_vain", "01_looks_into_values", "04_asm_label",
          "04_bomb_of_includes", "04_copies_back", "04_daemon", "04_endless_host", "04_finds_and_answers",
          "04_fits_what_students_see", "04_fork_bomb", "04_network", "04_notes_a_copy_to_the_judge", "04_reads_the_assignment"]
# Two at a time, on any machine: what each is told must not depend on the others.
AT_ONCE = 2
SEED = "20240607"
# Of a program; the grader's own is for honest people's slow ones.
SECONDS = 8
# Of those that never end: more time changes nothing of what is told.
ENDLESS = {"00_never_ends", "04_endless_host", "04_large_local_arrays", "04_launches_without_end"}
SECONDS_OF_ENDLESS = 2
LEFT_BEHIND = pathlib.Path(tempfile.gettempdir()) / "halo-was-here"

halo = build = record = None
sample = False
results = {}


def grade(attack, folder):
    exercise = exercise_of(attack)
    submission = folder / attack / exercise
    submission.mkdir(parents=True)
    (submission / f"{exercise[3:]}.cu").write_text(text_of(attack))
    assignment = folder / ("endless.json" if attack in ENDLESS else "assignment.json")
    start = time.monotonic()
    done = subprocess.run([halo, "--build", build, "grade", submission / f"{exercise[3:]}.cu", "--exercise", exercise,
                           "--assignment", assignment, "--seed", SEED, "--format", "json"],
                          capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    seconds = time.monotonic() - start
    try:
        graded = json.loads(done.stdout)
    except ValueError:
        return {"points": None, "told": [done.stderr.strip()], "seconds": seconds, "sandbox": ""}
    one = graded["exercises"][0] if graded["exercises"] else {"points": 0, "refusal": graded["error"], "cases": []}
    messages = [case["message"] for case in one["cases"] if case["outcome"] == "failed" and case["message"]]
    return {"points": one["points"], "most": one.get("most", 0), "status": done.returncode, "seconds": seconds,
            "told": ([one["refusal"]] if one["refusal"] else []) + messages, "sandbox": graded["sandbox"]}


def state_of_repository():
    done = subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "--ignored=no"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.canary = cls.folder / "canary"
        cls.canary.write_text("sings")
        cls.canary.chmod(0o666)
        cls.process = subprocess.Popen(["sleep", "infinity"])
        cls.addClassCleanup(cls.process.wait)
        cls.addClassCleanup(cls.process.kill)
        LEFT_BEHIND.unlink(missing_ok=True)
        assignment = json.loads((ROOT / "solutions" / "assignment.json").read_text())
        for name, seconds in ("assignment", SECONDS), ("endless", SECONDS_OF_ENDLESS):
            assignment["limits"] = {"seconds": seconds, "memory": 600}
            (cls.folder / f"{name}.json").write_text(json.dumps(assignment))
        cls.before = state_of_repository()
        only = os.environ.get("ATTACKS", "*")
        attacks = SAMPLE if sample else names(only)
        # What takes longest first, so that nobody waits for it at the end.
        slow = [one for one in attacks if one in ENDLESS or "bomb" in one]
        jobs = slow + [one for one in attacks if one not in slow]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for attack, result in zip(jobs, pool.map(lambda one: grade(one, cls.folder), jobs)):
                results[attack] = result

    def test_there_are_many_and_each_says_what_it_does(self):
        self.assertGreaterEqual(len(results), len(SAMPLE) if sample else LEAST)
        for attack in results:
            self.assertIsNotNone(head_of(attack), f"{attack}: its first line is no '// Attack: WHAT. Told: WORDS'")

    def test_each_has_the_points_that_it_names(self):
        for attack, result in results.items():
            with self.subTest(attack=attack):
                self.assertEqual(result["points"], head_of(attack)[2], result["told"])

    def test_each_is_told_why_in_one_line(self):
        for attack, result in results.items():
            with self.subTest(attack=attack):
                words = head_of(attack)[1]
                self.assertIn(words, "\n".join(result["told"]))
                if result["points"] == 0:
                    self.assertTrue(result["told"], "it is told nothing")
                for line in result["told"]:
                    self.assertNotRegex(line, r"[\x00-\x08\x0b-\x1f\x7f]")
                    self.assertNotIn("\n", line)

    def test_nothing_is_harmed(self):
        self.assertEqual(self.canary.read_text(), "sings")
        self.assertIsNone(self.process.poll(), "a process that was not the attacks' was ended")
        self.assertFalse(LEFT_BEHIND.exists(), "a shell was run")
        self.assertEqual(state_of_repository(), self.before)


def write_record(path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["exercise", "attack", "what it does", "points", "what it is told"])
        for attack, result in sorted(results.items()):
            what, words, _ = head_of(attack)
            told = next((line for line in result["told"] if words in line), result["told"][0] if result["told"] else "")
            writer.writerow([attack[:2], attack, what, f"{result['points']:g}", told])


if __name__ == "__main__":
    halo, build = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    if "--record" in sys.argv:
        at = sys.argv.index("--record")
        record = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--show" in sys.argv:
        sys.argv.remove("--show")
        Attacks.setUpClass()
        for name, one in sorted(results.items()):
            print(f"{name:34} {one['points']} {one['seconds']:.1f}s {one['told'][:2]}")
        Attacks.tearDownClass()
        Attacks.doClassCleanups()
        sys.exit(0)
    program = unittest.main(exit=False)
    if record and program.result.wasSuccessful():
        write_record(record)
    sys.exit(not program.result.wasSuccessful())
