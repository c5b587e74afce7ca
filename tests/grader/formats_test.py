"""What a grade looks like to the platforms: each format is held to the fields that its platform publishes,
with their types and values, and to nothing else.

usage: formats_test.py FORMAT_GRADE [unittest's options]"""
import copy
import json
import math
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

program = None
FORMATS = ["text", "json", "gradescope", "prairielearn", "autolab", "submitty", "github", "junit"]


def case(name, points, most, outcome="passed", message="", kind="correctness", hidden=False):
    return {"name": name, "kind": kind, "hidden": hidden, "points": points, "most": most,
            "outcome": outcome, "message": message, "seconds": 0.25}


def exercise(name, cases, title="Tile and halo", refusal="", remarks=(), time=""):
    return {"name": name, "title": title, "points": sum(c["points"] for c in cases),
            "most": sum(c["most"] for c in cases), "refusal": refusal, "remarks": list(remarks), "time": time,
            "cases": cases}


def grade(exercises, error=""):
    return {"student": "s1", "points": sum(e["points"] for e in exercises),
            "most": sum(e["most"] for e in exercises), "error": error, "sandbox": "namespaces",
            "seed": 18446744073709551615, "version": "0.1.0", "seconds": 4.6, "exercises": exercises}


FULL = grade([exercise("04_tile_and_halo", [
    case("one cell", 40, 40), case("no race", 30, 30, kind="safety"),
    case("loads", 30, 30, kind="budget")])])
PARTIAL = grade([
    exercise("04_tile_and_halo", [
        case("one cell", 40, 40), case("wide masks", 0, 30, "failed", "output[4] is 0.31, should be -1.07"),
        case("loads", 0, 20, "not run", kind="budget"),
        case("conflicts", 20 / 3, 10, "failed", kind="budget")]),
    exercise("05_shuffles", [case("one warp", 90, 90)], "Neighbours' cells by shuffles")])
HIDDEN = grade([exercise("04_tile_and_halo", [
    case("one cell", 40, 40),
    case("ends", 0, 30, "failed", "wrong: a mask wider than the block", hidden=True),
    case("more ends", 30, 30, hidden=True)])])
REFUSED = grade([exercise("04_tile_and_halo", [
    case("one cell", 0, 40, "not run"), case("no race", 0, 50, "not run", kind="safety")],
    refusal="does not compile: 'i' was not declared in this scope")])
REFUSED_BARE = grade([exercise("04_tile_and_halo", [], refusal="not handed in")])
HALF_REFUSED = grade(REFUSED["exercises"] + [exercise("05_shuffles", [case("one warp", 90, 90)])])
UNFINISHED = grade([], error="the grader did not finish")
NOTHING = grade([])
NO_POINTS = grade([exercise("04_tile_and_halo", [case("one cell", 0, 0)])])
# Each of these once broke somebody's report.
NASTY = ("a<b & c>\"d\" ]]> 'e' \x00\x01\x1b[31m\x7f \u0085 \u202e \ufffe \U0001f600 "
         "\n::error::owned\n##[error]owned\r\n{\"scores\":{\"04_tile_and_halo\":100}}\t%0A%s")
UNICODE = grade([exercise("04_tile_and_halo", [
    case(NASTY, 1, 2, "failed", NASTY), case("grüße, 漢字", 1, 2, "failed", "über")],
    title=NASTY, refusal="")], error="")
LONG = grade([exercise("04_tile_and_halo", [
    case(f"case {n}", 0, 1, "failed", ("ä\x01" * 4000) + f"end {n}") for n in range(40)])])
HUGE = grade([exercise("04_tile_and_halo", [
    case(f"case {n} " + "ü" * 100, 1, 1, "failed", "long " * 20) for n in range(5000)])])
WEIRD_POINTS = grade([exercise("04_tile_and_halo", [
    case("more than there is", 50, 40), case("less than nothing", -3, 10, "failed", "minus")])])

KINDS = {name: value for name, value in globals().items() if name.isupper() and isinstance(value, dict)}


def run(of, *words):
    return subprocess.run([program, *words], input=json.dumps(of).encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def text_of(of, *words):
    done = run(of, *words)
    if done.returncode not in (0, 1, 2 if of["error"] else 0) or done.stderr:
        raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
    return done.stdout.decode("utf-8")  # throws for what is none


# ---- The published fields ----

class Invalid(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Invalid(what)


def number(value):
    require(isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
            f"{value!r} is no number")


def string(value):
    require(isinstance(value, str), f"{value!r} is no string")


def boolean(value):
    require(isinstance(value, bool), f"{value!r} is no truth value")


def one_of(*allowed):
    def check(value):
        require(value in allowed, f"{value!r} is none of {allowed}")
    return check


def list_of(check):
    def check_all(value):
        require(isinstance(value, list), f"{value!r} is no list")
        for one in value:
            check(one)
    return check_all


def anything(_value):
    pass


def record(fields, needed=()):
    def check(value):
        require(isinstance(value, dict), f"{value!r} is no object")
        for name, of in value.items():
            require(name in fields, f"{name} is not published")
            fields[name](of)
        for name in needed:
            require(name in value, f"{name} is missing")
    return check


# gradescope-autograders.readthedocs.io, "Autograder Specifications", "Output format".
TEXT_FORMAT = one_of("text", "html", "simple_format", "md", "ansi")
VISIBILITY = one_of("hidden", "after_due_date", "after_published", "visible")
GRADESCOPE = record({
    "score": number, "execution_time": number, "output": string, "output_format": TEXT_FORMAT,
    "test_output_format": TEXT_FORMAT, "test_name_format": TEXT_FORMAT, "visibility": VISIBILITY,
    "stdout_visibility": VISIBILITY, "extra_data": record({"sandbox": string, "seed": string, "version": string}),
    "tests": list_of(record({
        "score": number, "max_score": number, "status": one_of("passed", "failed"), "name": string,
        "name_format": TEXT_FORMAT, "number": string, "output": string, "output_format": TEXT_FORMAT,
        "tags": list_of(string), "visibility": VISIBILITY, "extra_data": anything,
    }, ["name"])),
    "leaderboard": list_of(record({"name": string, "value": anything, "order": one_of("asc", "desc")},
                                  ["name", "value"])),
})


def gradescope(text):
    result = json.loads(text)
    GRADESCOPE(result)
    # Either one score for all or one for each.
    require("score" in result or (result.get("tests") and all("score" in t for t in result["tests"])),
            "no score")
    return result


# PrairieLearn's documentation, "External grading", "Grading results".
def strings(value):
    if not isinstance(value, str):
        list_of(string)(value)


PRAIRIELEARN = record({
    "gradable": boolean, "score": number, "message": string, "output": string, "images": anything,
    "format_errors": strings,
    "tests": list_of(record({
        "name": string, "description": string, "points": number, "max_points": number, "message": string,
        "output": string, "images": anything}, ["name", "points", "max_points"])),
})


def prairielearn(text):
    require(len(text.encode()) <= 1_000_000, "more than 1 MB")
    result = json.loads(text)
    PRAIRIELEARN(result)
    if result.get("gradable", True):
        require("score" in result and 0.0 <= result["score"] <= 1.0, "no score from 0 to 1")
        require("format_errors" not in result, "format_errors of what is gradable")
    else:
        require(result.get("format_errors"), "not gradable, and no reason")
    return result


# Autolab's guide for lab authors: the last line of stdout.
AUTOLAB = record({"scores": lambda of: record(dict.fromkeys(of, number))(of), "scoreboard": list_of(number)},
                 ["scores"])


def autolab(text):
    require(text.endswith("\n"), "the last line has no end")
    result = json.loads(text.splitlines()[-1])
    AUTOLAB(result)
    return result


# Submitty's custom validators: success with data, fail or error with a message.
def submitty(text):
    result = json.loads(text)
    require(isinstance(result, dict), "no object")
    if result.get("status") == "success":
        record({"status": string, "data": record(
            {"score": number, "message": string,
             "status": one_of("information", "failure", "warning", "success")}, ["score"])},
            ["data"])(result)
        require(0 <= result["data"]["score"] <= 1, "no score from 0 to 1")
    else:
        record({"status": one_of("fail", "error"), "message": string}, ["status", "message"])(result)
    return result


# The schema that Jenkins' JUnit plugin goes by.
def attributes(element, needed, allowed):
    for name in needed:
        require(name in element.attrib, f"{element.tag} has no {name}")
    for name in element.attrib:
        require(name in needed or name in allowed, f"{element.tag}: {name} is not published")


def whole(element, name):
    require(element.attrib[name].isdecimal(), f"{name}={element.attrib[name]}")
    return int(element.attrib[name])


def junit(text):
    root = ElementTree.fromstring(text.encode())
    require(root.tag == "testsuites", root.tag)
    attributes(root, ["tests", "failures", "errors"], ["name", "time", "disabled"])
    sums = dict.fromkeys(["tests", "failures", "errors"], 0)
    for suite in root:
        require(suite.tag == "testsuite", suite.tag)
        attributes(suite, ["name", "tests"],
                   ["failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"])
        counts = dict.fromkeys(["tests", "failures", "errors", "skipped"], 0)
        for element in suite:
            if element.tag in ("system-out", "system-err"):
                require(element in list(suite)[-2:], f"{element.tag} stands last")
                continue
            require(element.tag == "testcase", element.tag)
            attributes(element, ["classname", "name"], ["time", "assertions", "status"])
            float(element.attrib["time"])
            counts["tests"] += 1
            verdicts = [e for e in element if e.tag not in ("system-out", "system-err")]
            require(len(verdicts) <= 1, "two verdicts")
            require(list(element)[:len(verdicts)] == verdicts, "the verdict stands first")
            for verdict in verdicts:
                key = {"failure": "failures", "error": "errors", "skipped": "skipped"}.get(verdict.tag)
                require(key, verdict.tag)
                attributes(verdict, [], ["message"] + (["type"] if verdict.tag != "skipped" else []))
                counts[key] += 1
        for name, count in counts.items():
            require(whole(suite, name) == count, f"{name} is not {count}")
            if name in sums:
                sums[name] += count
    for name, count in sums.items():
        require(whole(root, name) == count, f"all {name} are not {count}")
    return root


def github(text):
    for line in text.splitlines():
        require(line.startswith(("PASS  ", "FAIL  ", "NOT RUN  ", "Halo: ")), f"begins with its own words: {line!r}")
        require("##[" not in line, line)
    return text


VALIDATORS = {"gradescope": gradescope, "prairielearn": prairielearn, "autolab": autolab, "submitty": submitty,
              "junit": junit, "github": github}


class Formats(unittest.TestCase):
    def test_every_kind_of_grade_is_valid_in_every_format(self):
        tried = 0
        for name, of in KINDS.items():
            for word, validate in VALIDATORS.items():
                with self.subTest(grade=name, format=word):
                    validate(text_of(of, word))
                    tried += 1
        self.assertEqual(tried, len(KINDS) * len(VALIDATORS))
        self.assertGreaterEqual(len(KINDS), 12)

    def test_the_same_grade_gives_the_same_text(self):
        for word in FORMATS:
            self.assertEqual(text_of(PARTIAL, word), text_of(PARTIAL, word))

    def test_json_has_all_of_the_grade(self):
        for name, of in KINDS.items():
            if name in ("UNICODE", "HUGE"):  # numbers are numbers, but 1 and 1.0
                continue
            with self.subTest(grade=name):
                self.assertEqual(json.loads(text_of(of, "json")), of)

    def test_an_unknown_format_is_named_with_those_there_are(self):
        done = run(FULL, "gradscope")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is not one of text, json,", done.stderr)
        self.assertIn(b"gradescope", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)


class Gradescope(unittest.TestCase):
    def of(self, grade_, *words):
        return gradescope(text_of(grade_, "gradescope", *words))

    def test_every_case_has_its_points(self):
        result = self.of(PARTIAL)
        self.assertNotIn("score", result)  # it would override the sum
        self.assertEqual([t["score"] for t in result["tests"]], [40, 0, 0, 6.6667, 90])
        self.assertEqual([t["max_score"] for t in result["tests"]], [40, 30, 20, 10, 90])
        self.assertEqual([t["status"] for t in result["tests"]],
                         ["passed", "failed", "failed", "failed", "passed"])
        self.assertEqual([t["number"] for t in result["tests"]], ["04.1", "04.2", "04.3", "04.4", "05.1"])
        self.assertEqual(result["tests"][1]["output"], "output[4] is 0.31, should be -1.07")
        self.assertEqual(result["tests"][2]["output"], "not run")
        self.assertEqual(result["tests"][1]["tags"], ["04_tile_and_halo", "correctness"])
        self.assertEqual(result["execution_time"], 5)
        self.assertEqual(result["extra_data"], {"sandbox": "namespaces", "seed": "18446744073709551615",
                                                "version": "0.1.0"})

    def test_what_a_student_printed_is_never_shown(self):
        for of in KINDS.values():
            self.assertEqual(self.of(of)["stdout_visibility"], "hidden")

    def test_hidden_cases_wait_for_the_grades_or_stay_hidden(self):
        self.assertEqual([t["visibility"] for t in self.of(HIDDEN)["tests"]],
                         ["visible", "after_published", "after_published"])
        self.assertEqual([t["visibility"] for t in self.of(HIDDEN, "hide")["tests"]],
                         ["visible", "hidden", "hidden"])

    def test_a_refusal_says_why_in_every_case_and_keeps_the_points_that_there_are(self):
        result = self.of(REFUSED)
        self.assertIn("does not compile: 'i' was not declared", result["output"])
        self.assertEqual([(t["score"], t["max_score"], t["status"]) for t in result["tests"]],
                         [(0, 40, "failed"), (0, 50, "failed")])
        self.assertTrue(all("does not compile" in t["output"] for t in result["tests"]))
        self.assertIn("not handed in", self.of(REFUSED_BARE)["tests"][0]["output"])

    def test_without_cases_there_is_a_score_of_nothing(self):
        for of in (UNFINISHED, NOTHING):
            result = self.of(of)
            self.assertEqual(result["score"], 0)
            self.assertIn("not graded", result["output"])
        self.assertIn("the grader did not finish", self.of(UNFINISHED)["output"])


class PrairieLearn(unittest.TestCase):
    def of(self, grade_):
        return prairielearn(text_of(grade_, "prairielearn"))

    def test_the_score_is_a_share_of_all_points(self):
        self.assertEqual(self.of(FULL)["score"], 1)
        self.assertAlmostEqual(self.of(PARTIAL)["score"], (40 + 20 / 3 + 90) / 190, 5)
        self.assertEqual(self.of(NO_POINTS)["score"], 0)
        self.assertEqual(self.of(WEIRD_POINTS)["score"], 47 / 50)

    def test_what_could_not_be_judged_is_not_gradable(self):
        for of, why in ((REFUSED, "does not compile"), (REFUSED_BARE, "not handed in"),
                        (UNFINISHED, "the grader did not finish"), (NOTHING, "no exercise")):
            result = self.of(of)
            self.assertFalse(result["gradable"])
            self.assertIn(why, result["format_errors"][0])
        half = self.of(HALF_REFUSED)
        self.assertTrue(half["gradable"])
        self.assertEqual(half["score"], 0.5)
        self.assertIn("does not compile", half["output"])

    def test_every_test_has_points_and_most_points(self):
        tests = self.of(PARTIAL)["tests"]
        self.assertEqual([(t["points"], t["max_points"]) for t in tests],
                         [(40, 40), (0, 30), (0, 20), (6.6667, 10), (90, 90)])

    def test_however_much_there_is_to_say_it_fits(self):
        self.assertEqual(len(self.of(LONG)["tests"]), 40)
        huge = self.of(HUGE)
        self.assertEqual((huge["score"], huge["tests"]), (1, []))
        self.assertIn("too many cases", huge["output"])


class Others(unittest.TestCase):
    def test_autolab_hears_a_score_of_each_exercise_in_the_last_line(self):
        result = autolab(text_of(PARTIAL, "autolab"))
        self.assertEqual(result["scores"], {"04_tile_and_halo": 46.6667, "05_shuffles": 90})
        self.assertEqual(result["scoreboard"], [46.6667, 90, 136.6667])
        # A message that looks like the last line is none.
        self.assertEqual(autolab(text_of(UNICODE, "autolab"))["scores"], {"04_tile_and_halo": 2})
        self.assertEqual(autolab(text_of(REFUSED, "autolab"))["scores"], {"04_tile_and_halo": 0})

    def test_submitty_hears_a_share_or_that_the_grader_failed(self):
        self.assertEqual(submitty(text_of(FULL, "submitty"))["data"]["status"], "success")
        half = submitty(text_of(HALF_REFUSED, "submitty"))["data"]
        self.assertEqual((half["score"], half["status"]), (0.5, "failure"))
        self.assertEqual(submitty(text_of(UNFINISHED, "submitty"))["status"], "fail")

    def test_github_hears_by_the_exit_code_whether_all_is_good(self):
        for name, of in KINDS.items():
            with self.subTest(grade=name):
                good = name in ("FULL", "NO_POINTS")
                self.assertEqual(run(of, "github").returncode, 0 if good else 1)
                self.assertEqual(run(of, "gradescope").returncode, 0)

    def test_people_hear_by_the_exit_code_that_nothing_was_graded(self):
        for name, of in KINDS.items():
            for words in ("text", "json", "junit"):
                with self.subTest(grade=name, format=words):
                    self.assertEqual(run(of, words).returncode, 2 if of["error"] else 0)

    def test_junit_tells_failures_errors_and_what_was_not_run_apart(self):
        root = junit(text_of(PARTIAL, "junit"))
        suite = root[0]
        self.assertEqual([suite.get(n) for n in ("tests", "failures", "errors", "skipped")],
                         ["4", "2", "0", "1"])
        self.assertEqual(suite[1].find("failure").get("message"), "output[4] is 0.31, should be -1.07")
        self.assertEqual(suite[0].find("system-out").text, "40 of 40 points")
        refused = junit(text_of(REFUSED, "junit"))[0]
        self.assertEqual((refused.get("errors"), refused.get("failures")), ("2", "0"))
        self.assertEqual(junit(text_of(UNFINISHED, "junit")).get("errors"), "1")

    def test_junit_keeps_letters_and_drops_what_xml_cannot_hold(self):
        nasty, umlauts = junit(text_of(UNICODE, "junit"))[0].findall("testcase")
        self.assertEqual(umlauts.get("name"), "grüße, 漢字")
        self.assertEqual(umlauts.find("failure").text, "über")
        message = nasty.find("failure").get("message")
        self.assertIn("a<b & c>\"d\" ]]> 'e' ", message)
        self.assertIn("\U0001f600", message)
        for letter in "\x00\x01\x1b\x7f\ufffe":
            self.assertNotIn(letter, message)

    def test_a_time_is_told_and_has_no_points(self):
        time = "0.97 of the time of the course's kernel (0.95 to 1.02 in 5 turns)"
        for others in ([], PARTIAL["exercises"][1:]):
            timed = grade([exercise("04_tile_and_halo", [case("one cell", 40, 40)], time=time), *others])
            text = " ".join(text_of(timed, "text").split())
            self.assertIn("time " + time, text)
            self.assertIn("40 of 40", text)

    def test_what_is_taken_off_is_told_with_how_much_it_is(self):
        lazy = grade([exercise("04_tile_and_halo", [
            case("one cell", 70, 70), case("loads", 0, 30, "failed", kind="budget"),
            case("the budget is not met", -20, 0, "failed", kind="budget")])])
        self.assertRegex(text_of(lazy, "text"), r"the budget is not met +FAIL +-20\n")
        self.assertIn("<system-out>-20 points<", text_of(lazy, "junit"))

    def test_a_text_is_one_screen(self):
        for name, of in KINDS.items():
            if name in ("LONG", "HUGE"):
                continue
            with self.subTest(grade=name):
                text = text_of(of, "text")
                self.assertLessEqual(text.count("\n"), 24)
                self.assertNotIn("\x1b", text)
        course = grade([exercise(f"{n:02}_name", [case("a", 0, 90, "failed", "wrong")]) for n in range(14)])
        text = text_of(course, "text")
        self.assertLessEqual(text.count("\n"), 24)
        self.assertIn("and ", text)
        self.assertIn("s1: 0 of 1260 points", text)
        self.assertIn("136.6 of 190 points", text_of(PARTIAL, "text"))
        self.assertIn("does not compile", text_of(REFUSED, "text"))
        self.assertIn("(hidden)", text_of(HIDDEN, "text"))


class TheValidators(unittest.TestCase):
    """They refuse what a platform would, so that the tests above mean something."""

    def refused(self, word, change):
        result = json.loads(text_of(PARTIAL, word))
        changed = copy.deepcopy(result)
        change(changed)
        VALIDATORS[word](json.dumps(result))
        with self.assertRaises(Invalid):
            VALIDATORS[word](json.dumps(changed))

    def test_unknown_fields_and_wrong_types_are_refused(self):
        for word, change in [
            ("gradescope", lambda r: r.update(points=3)),
            ("gradescope", lambda r: r["tests"][0].update(score="3")),
            ("gradescope", lambda r: r["tests"][0].update(status="ok")),
            ("gradescope", lambda r: r["tests"][0].update(visibility="secret")),
            ("gradescope", lambda r: r["tests"][0].update(number=4)),
            ("gradescope", lambda r: [t.pop("score") for t in r["tests"]]),
            ("prairielearn", lambda r: r.update(score=1.2)),
            ("prairielearn", lambda r: r.pop("score")),
            ("prairielearn", lambda r: r["tests"][0].pop("max_points")),
            ("prairielearn", lambda r: r.update(gradable=False)),
            ("prairielearn", lambda r: r.update(output="x" * 1_000_000)),
            ("submitty", lambda r: r["data"].update(score=40)),
            ("submitty", lambda r: r.update(points=3)),
        ]:
            with self.subTest(format=word):
                self.refused(word, change)
        with self.assertRaises(Invalid):
            autolab('{"scores": {"a": "3"}}\n')
        with self.assertRaises(Invalid):
            junit('<testsuites tests="1" failures="0" errors="0"><testsuite name="a" tests="1" failures="0" '
                  'errors="0" skipped="0"/></testsuites>')


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
