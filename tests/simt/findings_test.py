#!/usr/bin/env python3
"""What becomes of findings: suppressions, which of them fail a run, and what `simt findings` makes of the reports of many
programs: lines, annotations, SARIF, JUnit."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "kernels" / "verdicts.cu"
options = argparse.Namespace()

try:
    # Made from the schema of OASIS.
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif
except ImportError:
    Sarif = None


def line_of(marker):
    (number,) = [n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if text.endswith(f"// LINE {marker}")]
    return number


def start(*words, cwd, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    clean.update(environment)
    return subprocess.run([str(word) for word in words], cwd=cwd, env=clean, text=True, capture_output=True)


class Verdicts(unittest.TestCase):
    home = None  # one for all the tests

    @classmethod
    def setUpClass(cls):
        if Verdicts.home:
            return
        shared = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(shared.cleanup)
        # As a repository: a folder with a blank and a letter that a URI must encode, and sources below it.
        Verdicts.home = pathlib.Path(shared.name).resolve() / "a künstlich repo"
        (cls.home / "src").mkdir(parents=True)
        shutil.copy(SOURCE, cls.home / "src")
        # Beside it, not in it: nvcc's own scripts lose such a letter in a path of what they write.
        subprocess.run([options.simcc, "src/verdicts.cu", "-o", "verdicts"], cwd=cls.home, check=True)

    def setUp(self):
        for old in [*self.home.glob("*.json"), *self.home.glob("*.supp")]:
            old.unlink()

    def run_program(self, *words, **environment):
        return start("./verdicts", *words, cwd=self.home, **environment)

    def simt(self, *words, **environment):
        return start(options.simt, *words, cwd=self.home, **environment)

    def rules(self, *lines):
        (self.home / "it.supp").write_text("\n".join(lines) + "\n")
        return "it.supp"


class Suppressions(Verdicts):
    def test_a_suppressed_finding_neither_fails_the_run_nor_is_hidden(self):
        self.assertEqual(self.run_program("race").returncode, 3)
        for place in ("kernel=reverse array=tile", "kernel=*halves::reverse*", "array=t?le", "file=verdicts.cu",
                      f"file=src/verdicts.cu line={line_of('store')}", f"file=*.cu line={line_of('load')}"):
            with self.subTest(place):
                rules = self.rules("# why not", "", f"race {place} reason=the halves never meet (#41)")
                ended = self.run_program("race", SIMT_SUPPRESSIONS=rules, SIMT_REPORT="r.json")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual(ended.stderr, "simt: 1 finding is suppressed by it.supp\n")
                report = json.loads((self.home / "r.json").read_text())
                (finding,) = report["launches"][0]["findings"]
                rule = {"file": "it.supp", "line": 3, "rule": f"race {place}", "reason": "the halves never meet (#41)"}
                self.assertEqual(finding["suppressed"], rule)
                self.assertEqual(report["suppressions"], [{**rule, "used": 1}])

    def test_a_rule_for_something_else_suppresses_nothing_and_says_so(self):
        for place in ("kernel=rev array=tile", "array=til", "file=erdicts.cu", "kernel=reverse array=data",
                      f"file=verdicts.cu line={line_of('same')}"):
            with self.subTest(place):
                ended = self.run_program("race", SIMT_SUPPRESSIONS=self.rules(f"race {place} reason=x"))
                self.assertEqual(ended.returncode, 3)
                self.assertIn("error: race of tile", ended.stderr)
                self.assertIn(f"it.supp:1: note: suppresses nothing: race {place}\n", ended.stderr)

    def test_a_wrong_line_is_one_message_and_status_2(self):
        for line, told in [("raze kernel=reverse reason=x", "'raze' is not a kind"),
                           ("race reason=x", "kernel=, array= or file="),
                           ("race kernel=reverse", "has no reason"),
                           ("race kernel=reverse reason=  ", "has no reason"),
                           ("race kernel= reason=x", "'kernel='"),
                           ("race where=reverse reason=x", "'where=reverse'"),
                           ("race line=12 reason=x", "line= needs a file="),
                           ("race file=a.cu line=0 reason=x", "line=0 is not"),
                           ("race file=a.cu line=1x reason=x", "line=1x is not")]:
            with self.subTest(line):
                ended = self.run_program("clean", SIMT_SUPPRESSIONS=self.rules("# first", line))
                self.assertEqual(ended.returncode, 2)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                self.assertIn("it.supp:2: ", ended.stderr)
                self.assertIn(told, ended.stderr)
        for file in ("none.supp", "src"):
            ended = self.run_program("clean", SIMT_SUPPRESSIONS=file)
            self.assertEqual((ended.returncode, ended.stderr), (2, f"simt: {file}: the suppressions cannot be read\n"))

    def test_simt_run_has_them_as_options_and_keeps_the_programs_words_and_status(self):
        rules = self.rules("race kernel=reverse reason=x")
        for words, status in [(["--suppressions", rules], 0), ([f"--suppressions={rules}"], 0), (["--fail-on", "none"], 0),
                              (["--fail-on=notes", "--suppressions", rules], 0), ([], 3), (["--fail-on", "raze"], 2),
                              (["--unknown", "x"], 2), (["--fail-on"], 2)]:
            with self.subTest(words):
                ended = self.simt("run", *words, "./verdicts", "race")
                self.assertEqual(ended.returncode, status, ended.stderr)
        self.assertEqual(self.simt("run", "sh", "-c", "exit 41").returncode, 41)
        self.assertEqual(self.simt("run", "--fail-on", "none").returncode, 2)


class FailOn(Verdicts):
    def test_help_and_version_are_no_wrong_use(self):
        asked = self.simt("--help")
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        for name in ("run", "debug", "findings", "ptx", "suite"):
            with self.subTest(name):
                self.assertIn(f"simt {name} ", asked.stdout)
                own = self.simt(name, "--help")
                self.assertEqual((own.returncode, own.stderr), (0, ""))
                self.assertIn(f"simt {name} ", own.stdout)
        version = start(options.simt, "--version", cwd=self.home)
        self.assertRegex(version.stdout, r"^simt \d+\.\d+\.\d+\n$")
        self.assertEqual((version.returncode, version.stderr), (0, ""))

    def test_wrong_use_is_one_line_that_says_what_to_type(self):
        names = "run, debug, findings, ptx, suite (simt --help)"
        for words, told in [([], f"which command? It has {names}"), (["halp"], f"there is no command 'halp': {names}"),
                            (["run"], "type simt run [--fail-on WORDS] [--suppressions FILE] PROGRAM [ARGUMENT...]"),
                            (["suite"], "type simt suite FOLDER TABLE [-j N] [--limit SECONDS] [--keep FOLDER] [--json FILE]"),
                            (["ptx", "no.ptx"], "no.ptx cannot be read: No such file or directory"),
                            (["ptx", "."], ". cannot be read: Is a directory")]:
            with self.subTest(words):
                ended = self.simt(*words)
                self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (2, "", f"simt: {told}\n"))

    def test_words_choose_which_findings_fail(self):
        for words, race, write in [("errors", 3, 0), ("notes", 3, 3), ("none", 0, 0), ("race", 3, 0),
                                   ("same_value_write", 0, 3), ("out_of_bounds", 0, 0),
                                   ("out_of_bounds,same_value_write", 0, 3), ("errors,same_value_write", 3, 3)]:
            with self.subTest(words):
                self.assertEqual(self.run_program("race", SIMT_FAIL_ON=words).returncode, race)
                self.assertEqual(self.run_program("write", SIMT_FAIL_ON=words).returncode, write)
                report = {"SIMT_REPORT": "r.json", "SIMT_FAIL_ON": "none"}
                for word, status in (("race", race), ("write", write)):
                    self.run_program(word, **report)
                    self.assertEqual(self.simt("findings", "r.json", "--fail-on", words).returncode, status)
                    self.assertEqual(self.simt("findings", "r.json", SIMT_FAIL_ON=words).returncode, status)

    def test_a_word_that_is_no_kind_is_refused(self):
        for words in ("raze", "race,", "none,race", "all"):
            ended = self.run_program("clean", SIMT_FAIL_ON=words)
            self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (2, 1), ended.stderr)
            self.assertIn(f"SIMT_FAIL_ON={words}", ended.stderr)


class Findings(Verdicts):
    def reports(self):
        """Of a test run: two programs with the race, one with a note, one that is clean, one that crashes."""
        rules = self.rules("same_value_write kernel=same reason=a flag", "race kernel=never reason=x")
        for words in (["race"], ["race", "write"], ["write"], ["clean"], ["clean", "crash"]):
            self.run_program(*words, SIMT_REPORT="%p.json", SIMT_SUPPRESSIONS=rules)
        names = sorted(path.name for path in self.home.glob("*.json"))
        self.assertEqual(len(names), 5)
        return names

    def test_each_finding_is_told_once(self):
        ended = self.simt("findings", *self.reports())
        self.assertEqual((ended.returncode, ended.stderr), (3, ""))
        first, *others = ended.stdout.splitlines()
        place = f"src/verdicts.cu:{line_of('store')}: error: race of tile in void halves::reverse<64>(float*): "
        self.assertTrue(first.startswith(place), first)
        self.assertIn(f" at src/verdicts.cu:{line_of('load')}. ", first)
        self.assertTrue(first.endswith("(128 times)"), first)
        self.assertEqual(others[0], "it.supp:2: note: suppresses nothing: race kernel=never")
        self.assertRegex(others[1], r"^\d+\.json: its program did not end")
        self.assertEqual(others[2:], ["1 error, 0 notes, 1 suppressed in 5 reports"])

    def test_annotations_of_a_workflow(self):
        ended = self.simt("findings", "--format", "github", *self.reports())
        place = f"::error file=src/verdicts.cu,line={line_of('store')},title=race of tile in reverse::thread (0,0,0)"
        self.assertTrue(ended.stdout.startswith(place), ended.stdout)

    def sarif(self, *words):
        ended = self.simt("findings", "--fail-on", "none", "--sarif", "out.sarif", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads((self.home / "out.sarif").read_text())

    def test_sarif_has_what_code_scanning_asks_for(self):
        log = self.sarif(*self.reports())
        self.assertEqual(log["version"], "2.1.0")
        self.assertTrue(log["$schema"].endswith("sarif-2.1.0.json"))
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(run["tool"]["driver"]["name"], "simt")
        self.assertEqual([rule["id"] for rule in rules], ["race", "same_value_write"])
        for rule in rules:
            for text in ("shortDescription", "fullDescription", "help"):
                self.assertGreater(len(rule[text]["text"]), 3)
        race, write = sorted(run["results"], key=lambda one: one["ruleId"])
        for result, level, marker in ((race, "error", "store"), (write, "note", "same")):
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertEqual(rules[result["ruleIndex"]]["defaultConfiguration"]["level"], level)
            self.assertEqual(result["level"], level)
            (location,) = result["locations"]
            self.assertEqual(location["physicalLocation"], {
                "artifactLocation": {"uri": "src/verdicts.cu", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": line_of(marker)}})
            self.assertTrue(result["partialFingerprints"])
        self.assertIn("%SRCROOT%", run["originalUriBaseIds"])
        (other,) = race["relatedLocations"]
        self.assertEqual(other["physicalLocation"]["region"]["startLine"], line_of("load"))
        self.assertIn(f"[src/verdicts.cu:{line_of('load')}]({other['id']})", race["message"]["text"])
        self.assertEqual(race["suppressions"], [])
        (suppression,) = write["suppressions"]
        self.assertEqual((suppression["kind"], suppression["justification"]), ("external", "a flag"))
        self.assertNotIn(str(self.home), json.dumps(log))

    def test_github_shows_suppressed_results_as_open_so_they_are_left_out(self):
        log = self.sarif("--format", "github", *self.reports())
        self.assertEqual([one["ruleId"] for one in log["runs"][0]["results"]], ["race"])

    @unittest.skipIf(Sarif is None, "NOT RUN: pydantic-sarif (from PyPI) is not installed")
    def test_sarif_is_valid_by_the_schema(self):
        log = self.sarif(*self.reports())
        Sarif.model_validate(log)
        log["runs"][0]["results"][0]["where"] = "here"
        with self.assertRaises(ValueError):
            Sarif.model_validate(log)

    def test_paths_outside_the_repository_are_absolute_uris(self):
        self.run_program("race", SIMT_REPORT="r.json")
        (self.home / "sub").mkdir(exist_ok=True)
        ended = start(options.simt, "findings", "../r.json", "--sarif", "../out.sarif", cwd=self.home / "sub")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        (result,) = json.loads((self.home / "out.sarif").read_text())["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        self.assertEqual(place, {"uri": (self.home / "src/verdicts.cu").as_uri()})

    def test_a_finding_without_a_line_has_the_program_as_its_place(self):
        self.run_program("race", SIMT_REPORT="r.json")
        report = json.loads((self.home / "r.json").read_text())
        report["launches"][0]["findings"][0].update(file="", line=0, other_file="", other_line=0)
        (self.home / "r.json").write_text(json.dumps(report))
        (result,) = self.sarif("r.json")["runs"][0]["results"]
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "verdicts")
        self.assertNotIn("relatedLocations", result)
        self.assertTrue(self.simt("findings", "r.json").stdout.startswith("simt: error: race of tile in "))

    def test_a_fingerprint_stays_when_lines_move_and_changes_with_the_line(self):
        self.run_program("race", SIMT_REPORT="r.json")

        def prints():
            (result,) = self.sarif("r.json")["runs"][0]["results"]
            return result["partialFingerprints"]

        before = prints()
        report = json.loads((self.home / "r.json").read_text())
        source = self.home / "src" / "verdicts.cu"
        text = source.read_text()
        try:
            for key in ("line", "other_line"):
                report["launches"][0]["findings"][0][key] += 3
            (self.home / "r.json").write_text(json.dumps(report))
            source.write_text("\n\n\n" + text)
            self.assertEqual(prints(), before)
            source.write_text("\n\n\n" + text.replace("= other;  ", "= 2;  "))
            self.assertNotEqual(prints(), before)
        finally:
            source.write_text(text)

    def test_junit_has_a_case_for_each_kernel(self):
        names = self.reports()
        self.simt("findings", "--junit", "out.xml", *names)
        root = xml.etree.ElementTree.parse(self.home / "out.xml").getroot()
        self.assertEqual((root.get("tests"), root.get("failures")), ("3", "1"))
        (suite,) = root
        cases = {case.get("name"): case for case in suite}
        self.assertEqual({case.get("classname") for case in suite}, {"verdicts"})
        failing = cases["void halves::reverse<64>(float*)"]
        self.assertEqual(failing.find("failure").get("message"), "race of tile")
        self.assertIn("src/verdicts.cu:", failing.find("failure").text)
        self.assertIn("suppressed: a flag", cases["same(int*)"].find("system-out").text)
        self.assertEqual(len(cases["clear(float*)"]), 0)

    def test_what_cannot_be_read_or_written_is_one_line(self):
        self.run_program("clean", SIMT_REPORT="r.json")
        (self.home / "other.json").write_text("[]")
        (self.home / "newer.json").write_text('{"schema_version": 2, "launches": []}')
        for words, status, told in [(["*.none"], 2, "*.none: cannot be read"), (["other.json"], 2, "is not a report"),
                                    (["newer.json"], 2, "schema_version 1"), (["--sarif", "x"], 2, "REPORT"),
                                    (["--format", "xml", "r.json"], 2, "--format"),
                                    (["--fail-on", "raze", "r.json"], 2, "'raze'"),
                                    (["--sarif", "no/folder/x", "r.json"], 74, "no/folder/x")]:
            with self.subTest(words):
                ended = self.simt("findings", *words)
                self.assertEqual(ended.returncode, status, ended.stderr)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                self.assertIn(told, ended.stderr)


class Example(unittest.TestCase):
    def test_the_file_that_the_page_shows_is_what_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [options.simcc, "docs/examples/reverse.cu", "-o", f"{folder}/reverse"]
            subprocess.run(words, cwd=ROOT, check=True)
            start(f"{folder}/reverse", cwd=ROOT, SIMT_REPORT=f"{folder}/r.json")
            start(options.simt, "findings", "--sarif", f"{folder}/r.sarif", f"{folder}/r.json", cwd=ROOT)
            now = pathlib.Path(folder, "r.sarif").read_text()
        self.assertEqual(now, (ROOT / "docs/results/reverse.sarif").read_text(), "docs/simt_ci.md says how it is made")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simcc", type=os.path.abspath, required=True)
    parser.add_argument("--simt", type=os.path.abspath, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
