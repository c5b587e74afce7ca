"""The bug hunts hold together: each hunt compiles and fails as its answer says, its mended form has nothing
against it, and a few lines mend it.

usage: hunts_test.py BUILD/tests/exercises [--sample] [--table FILE] [unittest's options]

--sample tries only the first hunt of each kind, and the first that is found in each way. --table writes what became of each hunt to a JSON file, from which the pages' table is made."""
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import unittest

import course_test
from programs import ROOT, mended, mends, program_of

HUNTS = ROOT / "exercises" / "hunts"
STARTS = HUNTS / "start"
MOST_LINES = 6  # taken out and put in
LEAST_HUNTS = 24

build = pathlib.Path(".")
sample = False
results = {}


def told():
    return json.loads((HUNTS / "hunts.json").read_text())


def answers():
    """By the hunt's name, in the order of the file."""
    listed = json.loads((ROOT / "solutions/hunts/answers.json").read_text())
    return {answer.pop("name"): answer for answer in listed}


def changed(name):
    """How many lines of the hunt its mended form has not, and the reverse, together."""
    return sum(("line" in mend) + mend.get("last", mend.get("line", 0)) - mend.get("line", 0) + len(mend.get("with", []))
               for mend in mends()[name])


def check(name, form, contract):
    source = {"hunt": f"exercises/hunts/start/{name}.cu", "mended": f"solutions/hunts/{name}.cu"}[form]
    return course_test.run_check(build / "../../exercises/check-hunts", program_of(build.parent.parent, source), source,
                                 ["--contract", contract])


def chosen():
    """The hunts that are tried."""
    if not sample:
        return told()["hunts"]
    first = {}
    for name, answer in answers().items():
        for sort in ("kind", "found_by"):
            first.setdefault((sort, answer[sort]), name)
    return [hunt for hunt in told()["hunts"] if hunt["name"] in first.values()]


def findings(result):
    """Kinds of the simulator's findings."""
    return {hazard["kind"] for fault in result["faults"]
            for hazard in fault["hazards"].get("findings", [])}


def failed(result):
    return {one["category"] for one in result["cases"].values() if one["outcome"] == "FAIL"}


class Hunts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jobs = [(hunt["name"], form, hunt["contract"]) for hunt in chosen() for form in ("hunt", "mended")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for job, result in zip(jobs, pool.map(lambda job: check(*job), jobs)):
                results[job[:2]] = result

    def each(self, judge, hunts=None):
        for hunt in hunts or told()["hunts"]:
            with self.subTest(hunt=hunt["name"]):
                judge(hunt["name"], hunt, answers()[hunt["name"]])

    def test_folders_and_lists_name_the_same_hunts_and_there_are_enough(self):
        listed = [hunt["name"] for hunt in told()["hunts"]]
        self.assertGreaterEqual(len(listed), LEAST_HUNTS)
        self.assertEqual(listed, sorted(p.stem for p in STARTS.glob("*.cu")))
        self.assertEqual(listed, list(answers()))
        self.assertEqual([name[:2] for name in listed], [f"{i + 1:02d}" for i in range(len(listed))])

    def test_every_kind_is_explained_and_used(self):
        kinds = told()["kinds"]
        self.assertEqual({answer["kind"] for answer in answers().values()}, set(kinds))
        page = (HUNTS / "README.md").read_text()
        rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.M))
        self.assertEqual(rows, kinds)

    def test_each_hunt_has_its_words(self):
        def judge(_name, hunt, answer):
            self.assertEqual(set(hunt), {"name", "contract", "stage", "level", "symptom"})
            self.assertTrue(list(ROOT.glob(f"stages/{hunt['stage']}_*")), hunt["stage"])
            self.assertIn(hunt["level"], (1, 2, 3))
            self.assertRegex(hunt["symptom"], r"^[A-Z].{40,}\.$")
            self.assertLessEqual(set(answer), {"kind", "found_by", "why", "source", "mend"})
            self.assertRegex(answer["why"], r"^[A-Z].{60,}\.$")
        self.each(judge)

    def test_a_hunt_is_mended_by_a_few_lines(self):
        def judge(name, _hunt, answer):
            begun, whole = (STARTS / f"{name}.cu").read_text(), mended(name)
            self.assertIn(changed(name), range(1, MOST_LINES + 1))
            for mend in answer["mend"]:  # each changes what it names
                self.assertIn(mend.get("after", mend.get("line")), range(1, len(begun.splitlines())))
                self.assertTrue("line" in mend or mend["with"])
                if "line" in mend:
                    first, last = mend["line"], mend.get("last", mend["line"])
                    self.assertTrue(set(begun.splitlines()[first - 1:last]).isdisjoint(mend.get("with", [])))
            for text in (begun, whole):
                self.assertNotRegex(text, r"(?i)\b(todo|bug|wrong|fixme|mended)\b")
                self.assertLessEqual(len(text.splitlines()), 65)
        self.each(judge)

    def test_a_hunt_fails_and_is_found_by_what_its_answer_names(self):
        def judge(name, _hunt, answer):
            result = results[name, "hunt"]
            self.assertEqual(result["status"], 1, result["said"])
            found_by = answer["found_by"]
            if found_by == "numbers":
                self.assertIn("correctness", failed(result))
                self.assertEqual(findings(result), set())
            elif found_by == "budget":
                self.assertEqual(failed(result), {"budget"})
                self.assertEqual(findings(result), set())
            else:
                self.assertIn(found_by, findings(result))
        self.each(judge, chosen())

    def test_a_mended_form_has_nothing_against_it(self):
        def judge(name, _hunt, _answer):
            result = results[name, "mended"]
            bad = {case: one.get("message") for case, one in result["cases"].items()
                   if one["outcome"] != "PASS"}
            self.assertEqual(bad, {})
            self.assertEqual(result["status"], 0, result["said"])
            self.assertEqual(findings(result), set())
            self.assertEqual({one["category"] for one in result["cases"].values()},
                             {"correctness", "safety", "budget"})
        self.each(judge, chosen())


def write_table(path):
    rows = [{"hunt": name, "kind": answer["kind"], "found_by": answer["found_by"],
             "failed": sorted(case for case, one in results[name, "hunt"]["cases"].items()
                              if one["outcome"] == "FAIL"),
             "findings": sorted(findings(results[name, "hunt"])),
             "lines": changed(name),
             "points_mended": results[name, "mended"]["points"],
             "seconds": round(results[name, "hunt"]["seconds"], 2)}
            for name, answer in answers().items()]
    course_test.write_rows(path, "tests/exercises/hunts_test.py --table", rows)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    table = None
    if "--table" in sys.argv:
        at = sys.argv.index("--table")
        table = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sample = True
    tests = unittest.main(exit=False)
    if table and tests.result.wasSuccessful():
        write_table(table)
    print(f"checked: {len(chosen())} hunts, each as it begins and mended")
    if sample:
        print(f"left out: {len(told()['hunts']) - len(chosen())} hunts (--all)")
    sys.exit(not tests.result.wasSuccessful())
