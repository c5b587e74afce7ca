"""What is said of beginners' errors: of each edit in a wrong.toml that has `says`, all of these words, and none of
those that it has under `never`.

usage: words_test.py BUILD/tests/exercises [unittest's options]"""
import concurrent.futures
import os
import pathlib
import sys
import unittest

import course_test
from programs import edits_of, exercises, joined, source_of

build = pathlib.Path(".")


def told(exercise, name, folder):
    """All that the check tells of a program: what of it `try` shows is marks_text_test.cpp's business."""
    result = course_test.run_check(build / f"../../exercises/check-{exercise}", folder / name, source_of(exercise, name),
                                   [edits_of(exercise)[name]["fails"]])
    lines = [one.get("message", "") for one in result["cases"].values()]
    for row in result["faults"]:
        lines += [row["check"].get("reason", ""), *map(str, row["check"].get("diagnosis", {}).values())]
        for finding in row["hazards"].get("findings", []):
            lines += [finding["kind"], finding["message"], f"{finding['file']}:{finding['line']}",
                      f"{finding['other_file']}:{finding['other_line']}"]
    return "\n".join(lines).replace(f"{name}::", "")  # the namespace in which it is joined with others


class Words(unittest.TestCase):
    def test_an_error_is_told_by_what_it_is_where_and_what_to_do(self):
        jobs = [(exercise, name) for exercise in exercises() for name, edit in edits_of(exercise).items() if "says" in edit]
        self.assertGreater(len(jobs), 20)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            of_them = sorted({exercise for exercise, _ in jobs})
            folders = dict(zip(of_them, pool.map(lambda exercise: joined(build.parent.parent, exercise), of_them)))
            texts = list(pool.map(lambda job: told(*job, folders[job[0]]), jobs))
        for (exercise, name), text in zip(jobs, texts):
            edit = edits_of(exercise)[name]
            with self.subTest(exercise=exercise, program=name):
                for words in edit["says"]:
                    self.assertIn(words, text)
                for words in edit.get("never", []):
                    self.assertNotIn(words, text)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
