#!/usr/bin/env python3
"""What SIMT_TRACE leaves in the report: which lane touched what, of kernels that can be told by hand."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "kernels" / "traces.cu"
options = argparse.Namespace()


def line_of(marker):
    (number,) = [n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if text.endswith(f"// LINE {marker}")]
    return number


def addresses(request, arrays):
    """Of each lane the array's name and the byte, as the runs say it."""
    found = {}
    for lane, count, array, offset, stride in request["lanes"]:
        for i in range(count):
            assert lane + i not in found
            found[lane + i] = (arrays[array]["name"], offset + i * stride)
    return found


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = pathlib.Path(cls.folder.name) / "traces"
        subprocess.run([options.simcc, SOURCE, "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, **environment):
        path = pathlib.Path(self.folder.name) / "report.json"
        path.unlink(missing_ok=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
        clean.update(environment, SIMT_REPORT=str(path))
        ended = subprocess.run([str(self.program)], env=clean, text=True, capture_output=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return json.loads(path.read_text())

    def traced(self, name, **environment):
        for launch in self.report(SIMT_TRACE="1", **environment)["launches"]:
            if launch["kernel"].startswith(name):
                return launch, launch["trace"]
        self.fail(name)

    def requests(self, trace, warp, marker, kind=None):
        return [r for r in trace["warps"][warp]["requests"]
                if r["line"] == line_of(marker) and kind in (None, r["kind"])]

    def line(self, trace, marker):
        (found,) = [line for line in trace["lines"] if line["line"] == line_of(marker)]
        self.assertTrue(found["file"].endswith("traces.cu"))
        return found

    def test_off_unless_asked_for(self):
        for environment in ({}, {"SIMT_TRACE": "0"}, {"SIMT_TRACE": "1", "SIMT_CHECKS": "none"}):
            for launch in self.report(**environment)["launches"]:
                self.assertNotIn("trace", launch)

    def test_the_first_launches_of_each_kernel(self):
        for asked, expected in (("1", [True] * 3 + [False] * 3), ("2", [True] * 6)):
            launches = self.report(SIMT_TRACE=asked)["launches"]
            self.assertEqual(["trace" in launch for launch in launches], expected)

    def test_the_rest_of_the_report_is_the_same(self):
        without = self.report()["launches"]
        traced = self.report(SIMT_TRACE="2")["launches"]
        for launch in traced:
            del launch["trace"]
        self.assertEqual(without, traced)

    def test_lanes_of_a_shifted_load(self):
        _, trace = self.traced("shifted")
        arrays = trace["arrays"]
        line = self.line(trace, "shifted")
        first = trace["warps"][line["first"]]
        self.assertEqual((first["block"], first["warp"]), ([0, 0, 0], 0))
        load, store = self.requests(trace, line["first"], "shifted")
        self.assertEqual((load["kind"], store["kind"]), ("global_load", "shared_store"))
        self.assertLess(load["step"], store["step"])
        self.assertEqual(addresses(load, arrays), {t: ("input", 4 + 4 * t) for t in range(32)})
        # Bytes 4 to 131: one sector more than 128 bytes need.
        self.assertEqual((load["bytes"], load["taken"], load["fewest"]), (4, 5, 4))
        self.assertEqual(addresses(store, arrays), {t: ("tile", 4 * t) for t in range(32)})
        # The middle of two blocks is the second, of two warps the first.
        middle = trace["warps"][line["middle"]]
        self.assertEqual((middle["block"], middle["warp"]), ([1, 0, 0], 0))
        self.assertEqual(addresses(self.requests(trace, line["middle"], "shifted", "global_load")[0], arrays),
                         {t: ("input", 164 + 4 * t) for t in range(32)})

    def test_lanes_that_are_not_there(self):
        _, trace = self.traced("shifted")
        line = self.line(trace, "reversed")
        load, store = self.requests(trace, line["first"], "reversed")
        even = range(0, 32, 2)
        self.assertEqual(addresses(load, trace["arrays"]), {t: ("tile", 4 * (39 - t)) for t in even})
        self.assertEqual(addresses(store, trace["arrays"]), {t: ("output", 4 * t) for t in even})
        self.assertEqual((store["taken"], store["fewest"]), (4, 2))
        self.assertEqual((load["taken"], load["fewest"]), (1, 1))

    def test_phases_place_arrays_among_banks_and_sectors(self):
        _, trace = self.traced("shifted")
        by_name = {array["name"]: array for array in trace["arrays"]}
        self.assertEqual(by_name["tile"]["space"], "shared")
        self.assertEqual((by_name["tile"]["bytes"], by_name["before"]["bytes"]), (256, 12))
        # One of the two comes first, and the other behind it.
        phases = {by_name["tile"]["phase"], by_name["before"]["phase"]}
        self.assertIn(0, phases)
        self.assertEqual(len(phases), 2)
        self.assertEqual(by_name["input"],
                         {"name": "input", "space": "global", "bytes": 4096, "phase": 0,
                          # In each of two blocks a warp of 32 lanes and one of 8.
                          "fewest_load_sectors": 4 + 1 + 4 + 1,
                          # 48 parts of 85.3 bytes: block 0 loads bytes 4 to 163, block 1 bytes 164 to 323.
                          "loads": [0b0011, 0b1110], "stores": []})

    def test_active_lanes_of_a_line(self):
        _, trace = self.traced("shifted")
        # In each of two blocks a warp of 32 lanes and one of 8, load and store.
        line = self.line(trace, "shifted")
        self.assertEqual((line["requests"], line["lanes"]), (2 * 2 * 2, 2 * 2 * 40))
        # Every second lane.
        line = self.line(trace, "reversed")
        self.assertEqual((line["requests"], line["lanes"]), (2 * 2 * 2, 2 * 2 * (16 + 4)))

    def test_the_worst_warp_of_a_line(self):
        _, trace = self.traced("strides")
        line = self.line(trace, "loop")
        worst = trace["warps"][line["worst"]]
        self.assertEqual((worst["block"], worst["warp"]), ([1, 0, 0], 1))
        first = trace["warps"][line["first"]]
        self.assertEqual((first["block"], first["warp"]), ([0, 0, 0], 0))
        kept = self.requests(trace, line["worst"], "loop")
        self.assertEqual(len(kept), 16)  # of 20
        self.assertEqual(kept[3]["taken"], 32)
        self.assertEqual(addresses(kept[3], trace["arrays"]),
                         {t: ("input", 4 * (8 * (32 + t) + 3)) for t in range(32)})
        # Variable, loop, constant, store.
        self.assertEqual(worst["steps"], 23)
        # No line is worse where all are alike: then it is the first.
        alike = self.line(trace, "constant")
        self.assertEqual(alike["worst"], alike["first"])

    def test_the_fewest_of_all_requests(self):
        _, trace = self.traced("shifted")
        # Two warps of 32 and of 8 lanes in each of two blocks: 4 and 1 sectors; the stores' even lanes 2 and 1.
        self.assertEqual(self.line(trace, "shifted")["fewest"], {"global_load_sectors": 10})
        self.assertEqual(self.line(trace, "reversed")["fewest"], {"global_store_sectors": 6})
        _, trace = self.traced("strides")
        self.assertEqual(self.line(trace, "constant")["fewest"], {"constant_load_requests": 6})

    def test_variables(self):
        _, trace = self.traced("strides")
        (load,) = self.requests(trace, self.line(trace, "variable")["first"], "variable")
        self.assertEqual(set(addresses(load, trace["arrays"]).values()), {("variable", 0)})
        (constant,) = self.requests(trace, self.line(trace, "constant")["first"], "constant")
        self.assertEqual(constant["kind"], "constant_load")
        self.assertEqual((constant["taken"], constant["fewest"]), (4, 1))
        self.assertEqual(addresses(constant, trace["arrays"]), {t: ("factors", 4 * (t % 4)) for t in range(32)})

    def test_copies_and_atomics(self):
        _, trace = self.traced("others")
        copy = self.requests(trace, 0, "copy")
        self.assertEqual([r["kind"] for r in copy], ["global_load", "shared_store"])
        self.assertEqual([(r["bytes"], r["taken"], r["fewest"]) for r in copy], [(16, 16, 16), (16, 4, 4)])
        self.assertEqual(addresses(copy[1], trace["arrays"]),
                         {t: ("fours", 16 * t) for t in range(32)})
        (atomic,) = self.requests(trace, 0, "atomic", "global_atomic")
        self.assertEqual(addresses(atomic, trace["arrays"]),
                         {t: ("output", 4 * (t // 16)) for t in range(32)})

    def test_whole_traces_add_up_to_the_counters(self):
        launch, trace = self.traced("others")
        sums = {}
        for request in (r for warp in trace["warps"] for r in warp["requests"]):
            kind = request["kind"]
            for name, value in (("requests", 1), ("sectors" if "global" in kind else "wavefronts", request["taken"])):
                sums[f"{kind}_{name}"] = sums.get(f"{kind}_{name}", 0) + value
        sums.pop("global_atomic_sectors")  # no counter
        for name, value in sums.items():
            self.assertEqual(launch["counters"][name], value, name)

    def test_threads_change_nothing(self):
        one = self.report(SIMT_TRACE="1", SIMT_THREADS="1")
        for threads in ("2", "3"):
            self.assertEqual(one, self.report(SIMT_TRACE="1", SIMT_THREADS=threads))

    def test_a_value_that_is_not_understood(self):
        for value in ("yes", "-1", "1.5"):
            ended = subprocess.run([str(self.program)], env={**os.environ, "SIMT_TRACE": value}, text=True,
                                   capture_output=True)
            self.assertEqual(ended.returncode, 2)
            self.assertEqual(len(ended.stderr.splitlines()), 1)
            self.assertIn("SIMT_TRACE", ended.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simcc", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*")
    parser.parse_args(namespace=options)
    options.simcc = options.simcc.resolve()
    result = unittest.main(argv=[sys.argv[0], *options.tests], exit=False).result
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
