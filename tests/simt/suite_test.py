#!/usr/bin/env python3
"""`simt suite` on programs of the table of hazards and some that go wrong: verdicts, counts by kind, exit status."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HAZARDS = pathlib.Path(__file__).resolve().parent / "hazards"
options = argparse.Namespace()

TAKEN = ["race/missing_barrier", "race/missing_barrier_clean", "out_of_bounds/past_the_end", "same_value_write/flag"]
# What is not the simulator's to find, by its first argument.
OWN = """
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void nothing() {}
int main(int, char** words) {
  if (!std::strcmp(words[1], "no_kernel")) return 0;
  nothing<<<1, 1>>>();
  if (!std::strcmp(words[1], "aborts")) std::abort();
  if (!std::strcmp(words[1], "breaks")) {
    std::FILE* const report = std::fopen(std::getenv("SIMT_REPORT"), "w");
    std::fputs("{", report);
    std::fclose(report);
    _exit(0);
  }
  if (!std::strcmp(words[1], "spins")) for (volatile int i = 0;; i = 1) {}
  if (!std::strcmp(words[1], "too_large")) nothing<<<dim3(1, 70000), 1>>>();
  return cudaDeviceSynchronize();
}
"""


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name) / "programs"
        for name in TAKEN:
            (cls.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HAZARDS / f"{name}.cu", cls.folder / f"{name}.cu")
        (cls.folder / "own.cu").write_text(OWN)
        (cls.folder / "broken.cu").write_text("int main() { return nowhere; }\n")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def suite(self, table, *words):
        """The exit status, what was printed, and the results. Programs are compiled once for all tests."""
        place = pathlib.Path(self.temporary.name)
        (place / "table.txt").write_text(table)
        results = place / "results.json"
        results.unlink(missing_ok=True)
        ended = subprocess.run(
            [options.simt, "suite", str(self.folder), str(place / "table.txt"), "-j", "2", "--json", str(results),
             "--keep", str(place / "kept"), *words],
            env={k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}, text=True, capture_output=True,
        )  # fmt: skip
        return ended, json.loads(results.read_text()) if results.exists() else None

    def verdicts(self, results):
        return [(one["program"], one["verdict"], one["as_labelled"]) for one in results["programs"]]

    def test_as_labelled(self):
        ended, results = self.suite("""
            # A pattern leaves out what a line before it names.
            race/missing_barrier.cu        | race uninitialized_shared_read?
            race/*.cu                      | clean
            out_of_bounds/past_the_end.cu  | race/out_of_bounds
            same_value_write/flag.cu       | same_value_write
            broken.cu                      | refused
            own.cu | clean | -DUNUSED="two words" | SIMT_CHECKS=races nothing
            """)
        self.assertEqual((ended.returncode, results["verdicts"]["found"], results["verdicts"]["clean"],
                          results["verdicts"]["refused"]), (0, 3, 2, 1), ended.stdout + ended.stderr)  # fmt: skip
        self.assertEqual(results["kinds"]["race/out_of_bounds"], {"labelled": 1, "found": 1, "missed": 0, "false_alarms": 0})
        self.assertTrue(all(good for _, _, good in self.verdicts(results)))

    def test_other_than_labelled(self):
        ended, results = self.suite("""
            race/missing_barrier.cu        | clean
            race/missing_barrier_clean.cu  | race
            out_of_bounds/past_the_end.cu  | race out_of_bounds
            broken.cu                      | clean
            """)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(
            self.verdicts(results),
            [
                ("race/missing_barrier.cu", "false alarm", False),
                ("race/missing_barrier_clean.cu", "missed", False),
                ("out_of_bounds/past_the_end.cu", "missed", False),
                ("broken.cu", "refused", False),
            ],
        )
        self.assertEqual(results["kinds"]["race"], {"labelled": 2, "found": 0, "missed": 2, "false_alarms": 1})
        self.assertIn("nowhere", results["programs"][3]["why"])
        self.assertIn("race/missing_barrier_clean.cu: missed, expected race: not found: race", ended.stdout)

    def test_nothing_to_judge(self):
        ended, results = self.suite("".join(f"own.cu | clean || {one}\n" for one in
                                            ["no_kernel", "aborts", "breaks", "spins", "too_large"]), "--limit", "5")  # fmt: skip
        self.assertEqual(ended.returncode, 1)
        self.assertEqual([one["verdict"] for one in results["programs"]], ["no verdict"] * 4 + ["refused"])
        reasons = [one["why"] for one in results["programs"]]
        for reason, word in zip(reasons, ["no kernel ran", "Aborted", "cannot be read", "after 5 s", "gridDim.y is 70000"]):
            self.assertIn(word, reason)

    def test_wrong_tables(self):
        for table, word in {
            "own.cu | slow\n": "table.txt:1: slow is not a kind of finding",
            "other.cu | clean\n": "other.cu is not in",
            "own.cu\n": "table.txt:1: a line is PROGRAM | EXPECTED | COMPILE | RUN",
            "# nothing\n": "names no program",
        }.items():
            ended, results = self.suite(table)
            self.assertEqual((ended.returncode, results), (2, None))
            self.assertIn(word, ended.stderr)
            self.assertEqual(ended.stderr.count("\n"), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--simt", required=True)
    options, rest = parser.parse_known_args(namespace=options)
    unittest.main(argv=[sys.argv[0], *rest])
