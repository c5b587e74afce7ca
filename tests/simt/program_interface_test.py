#!/usr/bin/env python3
"""The interface of any simulated program: what SIMT_REPORT holds, what goes to stderr, the exit
status, what SIMT_GPU, SIMT_CHECKS and SIMT_THREADS do. Run by Meson, which passes the programs."""

import argparse
import fcntl
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
options = argparse.Namespace()

COUNTERS = [
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "shared_load_requests",
    "shared_load_wavefronts",
    "shared_load_conflicts",
    "shared_store_requests",
    "shared_store_wavefronts",
    "shared_store_conflicts",
    "constant_load_requests",
    "global_atomic_requests",
    "shared_atomic_requests",
    "barriers",
]
KINDS = {
    "race",
    "same_value_write",
    "read_beside_atomic",
    "out_of_bounds",
    "use_after_free",
    "misaligned",
    "invalid_address",
    "uninitialized_shared_read",
    "uninitialized_global_read",
    "uninitialized_local_read",
    "divergent_barrier",
    "missed_barrier",
    "warp_deadlock",
    "undefined_shuffle",
    "unfinished_copy",
    "invalid_copy",
    "endless_kernel",
    "failed_assert",
    "trap",
    "division_by_zero",
    "stack_overflow",
    "unordered_streams",
    "unordered_launches",
    "absent_block",
    "missing_fence",
    "unwritten_output",
    "unordered_stores",
    "unfinished_product",
    "missing_proxy_fence",
}


def run(program, *arguments, cwd=None, **environment):
    """Runs a program with these variables and no other SIMT_ variable."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    clean.update(environment)
    return subprocess.run(
        [str(program), *arguments], env=clean, cwd=cwd, text=True, capture_output=True
    )


def line_of(path, marker):
    numbers = [
        number
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith(f"// {marker}")
    ]
    assert len(numbers) == 1, (path, marker, numbers)
    return numbers[0]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report_of(self, program, *arguments, status=None, **environment):
        """The report that the program writes, and how the program ended."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            ended = run(program, *arguments, SIMT_REPORT=str(path), **environment)
            if status is not None:
                self.assertEqual(ended.returncode, status, ended.stderr)
            report = json.loads(path.read_text())
            self.assertEqual(os.listdir(folder), ["report.json"], "something was left behind")
        return report, ended

    def compiled(self, source):
        program = self.folder / source.stem
        built = run(options.simcc, str(source), "-o", str(program))
        self.assertEqual(built.returncode, 0, built.stderr)
        return program


class Report(ProgramTest):
    def test_fields(self):
        report, _ = self.report_of(options.hazard_cases, "missing_barrier", status=3)
        self.assertEqual(list(report), ["schema_version", "program", "launches", "coverage", "unfreed"])
        self.assertEqual(report["schema_version"], 1)
        (launch,) = report["launches"]
        self.assertEqual(
            set(launch),
            {"kernel", "grid", "block", "shared_bytes", "most_requests", "counters", "lines", "findings"},
        )
        self.assertIn("missing_barrier", launch["kernel"])
        self.assertEqual(launch["grid"], [2, 1, 1])
        self.assertEqual(launch["block"], [64, 1, 1])
        self.assertEqual(launch["shared_bytes"], 256)
        self.assertEqual(launch["most_requests"], 1)
        self.assertEqual(list(launch["counters"]), COUNTERS)
        self.assertEqual(launch["counters"]["shared_store_requests"], 8)
        self.assertEqual(launch["counters"]["barriers"], 2)
        for line in launch["lines"]:
            self.assertEqual(set(line), {"file", "line", "counters"})
            self.assertEqual(list(line["counters"]), COUNTERS)
        for counter in COUNTERS:
            total = sum(line["counters"][counter] for line in launch["lines"])
            self.assertEqual(total, launch["counters"][counter], counter)
        (finding,) = launch["findings"]
        self.assertEqual(
            set(finding),
            {
                "kind",
                "level",
                "file",
                "line",
                "other_file",
                "other_line",
                "block",
                "thread",
                "other_block",
                "other_thread",
                "array",
                "count",
                "message",
            },
        )
        source = KERNELS / "hazards_races.cu"
        self.assertEqual(finding["kind"], "race")
        self.assertTrue(finding["file"].endswith("kernels/hazards_races.cu"))
        self.assertEqual(
            {finding["line"], finding["other_line"]},
            {line_of(source, "BUG missing_barrier"), line_of(source, "OTHER missing_barrier")},
        )
        self.assertEqual(finding["block"], [0, 0, 0])
        self.assertEqual(finding["array"], "tile")
        self.assertEqual(finding["count"], 128)

    def test_dynamic_shared_memory_counts(self):
        report, _ = self.report_of(options.hazard_cases, "race_in_dynamic_shared")
        self.assertEqual(report["launches"][0]["shared_bytes"], 256)

    def test_one_entry_a_launch_in_order(self):
        names = ["syncwarp_orders_lanes", "two_writers", "syncwarp_orders_lanes"]
        report, _ = self.report_of(options.hazard_cases, *names)
        kernels = [launch["kernel"] for launch in report["launches"]]
        self.assertEqual(len(kernels), 3)
        for kernel, name in zip(kernels, names):
            self.assertIn(name, kernel)

    def test_only_known_kinds(self):
        report, _ = self.report_of(options.hazard_cases, "--all")
        kinds = {f["kind"] for launch in report["launches"] for f in launch["findings"]}
        self.assertLessEqual(kinds, KINDS)
        self.assertGreater(len(kinds), 15)
        for launch in report["launches"]:
            for finding in launch["findings"]:
                self.assertTrue(finding["file"].endswith(".cu"), finding)
                self.assertGreater(finding["line"], 0, finding)
                self.assertGreater(finding["count"], 0, finding)
                self.assertRegex(finding["message"], r"^\S.*\.$")
                self.assertNotIn("\n", finding["message"])

    def start(self, *arguments):
        """A program of hundreds of launches, and where it writes its report."""
        path = self.folder / "report.json"
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
        program = subprocess.Popen(
            [str(options.counted_cases), *arguments],
            env={**clean, "SIMT_REPORT": str(path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return program, path

    @staticmethod
    def launches_in(path):
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return len(json.loads(file.read())["launches"])

    def test_whole_after_each_launch(self):
        """Whoever reads while the program runs sees a whole report, with more and more launches."""
        for _ in range(10):  # whoever reads may be held up for a whole run
            program, path = self.start(str(KERNELS / "bank_patterns.csv"))
            path.write_text("of an earlier run")
            earlier = path.stat().st_ino
            seen = []
            while program.poll() is None:
                if path.exists() and path.stat().st_ino != earlier:
                    seen.append(self.launches_in(path))
                time.sleep(0.002)
            self.assertEqual(program.returncode, 0)
            seen.append(self.launches_in(path))
            self.assertEqual(seen, sorted(seen))
            if len(set(seen)) > 2:
                return
        self.fail("the report was not written between launches")

    def test_whole_when_killed(self):
        for wanted in (1, 20, 100):
            for _ in range(10):  # it may end before whoever kills it has his turn
                program, path = self.start(str(KERNELS / "bank_patterns.csv"))
                while program.poll() is None:
                    if path.exists() and self.launches_in(path) >= wanted:
                        # Between two writes: in the middle of one nothing can be promised.
                        with path.open() as file:
                            fcntl.flock(file, fcntl.LOCK_SH)
                            program.kill()
                            program.wait()
                    time.sleep(0.001)
                if program.returncode != 0:
                    break
                path.unlink()
            self.assertEqual(program.returncode, -signal.SIGKILL)
            self.assertGreaterEqual(len(json.loads(path.read_text())["launches"]), wanted)
            path.unlink()

    def test_cost_grows_with_the_launches(self):
        """Hundreds of launches, each written once: not all of them again for each."""
        program, path = self.start(str(KERNELS / "bank_patterns.csv"))
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        io = pathlib.Path(f"/proc/{program.pid}/io")
        try:
            figures = dict(line.split(": ") for line in io.read_text().splitlines())
        except OSError as error:
            self.skipTest(f"the kernel does not count what a program writes: {error}")
        finally:
            program.wait()
        self.assertEqual(program.returncode, 0)
        self.assertGreater(self.launches_in(path), 400)
        size = path.stat().st_size
        self.assertGreaterEqual(int(figures["wchar"]), size)
        self.assertLess(int(figures["wchar"]), 1.2 * size)

    def test_full_disk(self):
        """The launches that had room stay, and the program says why it ends."""
        path = self.folder / "report.json"

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
        ended = subprocess.run(
            [str(options.counted_cases), str(KERNELS / "bank_patterns.csv")],
            env={**clean, "SIMT_REPORT": str(path)},
            preexec_fn=small_files,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(ended.returncode, 74)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertIn("SIMT_REPORT", ended.stderr)
        self.assertGreater(self.launches_in(path), 10)
        self.assertGreater(path.stat().st_size, 90_000)
        self.assertEqual(os.listdir(self.folder), ["report.json"], "something was left behind")

    def test_unwritable(self):
        ended = run(
            options.hazard_cases,
            "missing_barrier_fixed",
            SIMT_REPORT=str(self.folder / "no/such/folder/report.json"),
        )
        self.assertEqual(ended.returncode, 74)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertIn("SIMT_REPORT", ended.stderr)


class ExitStatus(ProgramTest):
    def test_clean(self):
        ended = run(options.hazard_cases, "missing_barrier_fixed")
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(ended.stderr, "")

    def test_note_does_not_fail(self):
        ended = run(options.hazard_cases, "test_before_atomic")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("read_beside_atomic", ended.stderr)
        self.assertIn("note", ended.stderr)

    def test_findings(self):
        for name, kind, file in [
            ("missing_barrier", "race", "hazards_races.cu"),
            ("global_read_past_end", "out_of_bounds", "hazards_memory.cu"),
            ("shared_cell_not_written", "uninitialized_shared_read", "hazards_memory.cu"),
            ("barrier_missed", "divergent_barrier", "hazards_synchronisation.cu"),
        ]:
            with self.subTest(name):
                ended = run(options.hazard_cases, name)
                self.assertEqual(ended.returncode, 3)
                line = line_of(KERNELS / file, f"BUG {name}")
                self.assertRegex(ended.stderr, rf"{file}:{line}\b")
                self.assertIn(kind, ended.stderr)
                # The program itself went on to its end.
                self.assertIn(f"{name}: CUDA error", ended.stdout)

    def test_own_failure_is_not_hidden(self):
        ended = run(options.hazard_cases, "missing_barrier_fixed", "no_such_case")
        self.assertEqual(ended.returncode, 2)

    def test_a_finding_is_printed_once(self):
        ended = run(options.hazard_cases, "missing_barrier", "missing_barrier", "missing_barrier")
        self.assertEqual(ended.returncode, 3)
        self.assertEqual(ended.stderr.count("hazards_races.cu:"), 2, ended.stderr)  # both parties


class Environment(ProgramTest):
    def test_threads_change_nothing(self):
        for program, arguments in [
            (options.hazard_cases, ["--all"]),
            (options.counted_cases, [str(KERNELS / "bank_patterns.csv")]),
        ]:
            reports = {}
            for threads in ("1", "2", "4"):
                reports[threads], _ = self.report_of(
                    program, *arguments, SIMT_THREADS=threads
                )
            for threads in ("2", "4"):
                for one, other in zip(reports["1"]["launches"], reports[threads]["launches"]):
                    self.assertEqual(one, other)
                self.assertEqual(reports["1"], reports[threads])

    def test_checks(self):
        for checks, status in [
            ("all", 3),
            ("races", 3),
            ("counters,races", 3),
            ("none", 0),
            ("counters", 0),
            ("bounds,uninitialized,barriers", 0),
        ]:
            with self.subTest(checks):
                report, _ = self.report_of(
                    options.hazard_cases, "missing_barrier", status=status, SIMT_CHECKS=checks
                )
                (launch,) = report["launches"]
                self.assertEqual(bool(launch["findings"]), status == 3)
                counted = sum(launch["counters"].values())
                if checks == "none":
                    self.assertEqual(counted, 0)
                elif "counters" in checks or checks == "all":
                    self.assertGreater(counted, 0)

    def test_values_not_understood(self):
        for name, value in [
            ("SIMT_CHECKS", "rases"),
            ("SIMT_CHECKS", "races,,bounds"),
            ("SIMT_THREADS", "0"),
            ("SIMT_THREADS", "-1"),
            ("SIMT_THREADS", "two"),
            ("SIMT_THREADS", "2x"),
            ("SIMT_THREADS", "99999999999999999999"),
            ("SIMT_GPU", "gtx9999"),
            ("SIMT_FAIL", "cudaMalloc:0"),
            ("SIMT_FAIL", "cudaMalloc:"),
            ("SIMT_FAIL", "malloc:1"),
            ("SIMT_FAIL", "cudaMalloc:1:2"),
        ]:
            with self.subTest(name=name, value=value):
                ended = run(options.hazard_cases, "missing_barrier_fixed", **{name: value})
                self.assertEqual(ended.returncode, 2)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                self.assertIn(name, ended.stderr)
                self.assertIn(value, ended.stderr)


class Failures(ProgramTest):
    """SIMT_FAIL: calls that fail though nothing is wrong."""

    SOURCE = """
        #include <cuda_runtime.h>
        #include <cstdio>
        __global__ void one(int* a) { a[threadIdx.x] = 1; }
        #define SHOW(call) std::printf("%s %s\\n", #call, cudaGetErrorName(call))
        int main() {
          int* a = nullptr;
          int* b = nullptr;
          int host[32] = {};
          SHOW(cudaMalloc(&a, sizeof host));
          SHOW(cudaMalloc(&b, sizeof host));
          if (a == nullptr) return 1;
          one<<<1, 32>>>(a);
          SHOW(cudaGetLastError());
          SHOW(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
          std::printf("host %d\\n", host[31]);
          SHOW(cudaFree(a));
        }
    """

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        source = pathlib.Path(cls.home.name) / "fails.cu"
        source.write_text(cls.SOURCE)
        cls.program = source.with_suffix("")
        built = run(options.simcc, str(source), "-o", str(cls.program))
        assert built.returncode == 0, built.stderr

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def run_with(self, fail):
        ended = run(self.program, SIMT_FAIL=fail)
        told = dict(line.rsplit(" ", 1) for line in ended.stdout.splitlines())
        failed = {name: error for name, error in told.items() if error.startswith("cudaError")}
        return failed, told, ended

    def test_the_call_that_is_named_fails_and_no_other(self):
        copy = "cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost)"
        for fail, call, error in [
            ("cudaMalloc:2", "cudaMalloc(&b, sizeof host)", "cudaErrorMemoryAllocation"),
            ("cudaMemcpy:1", copy, "cudaErrorUnknown"),
            ("launch:1", "cudaGetLastError()", "cudaErrorLaunchOutOfResources"),
            ("cudaFree:1", "cudaFree(a)", "cudaErrorUnknown"),
            ("call:5", copy, "cudaErrorUnknown"),
        ]:
            with self.subTest(fail):
                failed, told, ended = self.run_with(fail)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual(failed.get(call), error)
                # An error that nobody took is the last error still.
                self.assertLessEqual(set(failed), {call, "cudaGetLastError()"})
                if call == copy:
                    self.assertEqual(told["host"], "0", "it copied")
                self.assertTrue(ended.stderr.splitlines()[0].endswith("fails, as SIMT_FAIL asks"))

    def test_a_call_that_never_comes_changes_nothing(self):
        for fail in ["cudaMalloc:3", "launch:2", "cudaMemset:1", "call:7"]:
            with self.subTest(fail):
                failed, told, ended = self.run_with(fail)
                self.assertEqual(failed, {})
                self.assertEqual(told["host"], "1")
                self.assertEqual(ended.stderr, "")

    def test_the_report_says_what_was_not_freed(self):
        report, _ = self.report_of(self.program, status=0)
        (left,) = report["unfreed"]
        self.assertEqual(left["bytes"], 128)
        self.assertTrue(left["file"].endswith("fails.cu"))
        self.assertEqual(left["line"], self.SOURCE.splitlines().index(
            "          SHOW(cudaMalloc(&b, sizeof host));") + 1)


class Programs(ProgramTest):
    def test_model_gpus(self):
        program = self.compiled(KERNELS / "describe_gpu.cu")
        described = {}
        for gpu, name, capability, multiprocessors, large in [
            ("h200", "H200", "9.0", 132, "yes"),
            ("v100", "V100", "7.0", 80, "no"),  # 96 KiB at most
            ("gtx1080ti", "1080 Ti", "6.1", 28, "no"),
        ]:
            with self.subTest(gpu):
                ended = run(program, SIMT_GPU=gpu)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                described[gpu] = ended.stdout
                self.assertIn(name, ended.stdout)
                self.assertIn(f"compute capability {capability}", ended.stdout)
                self.assertIn(f"multiprocessors {multiprocessors}\n", ended.stdout)
                self.assertIn(f"100 KiB of shared memory: {large}", ended.stdout)
                self.assertIn("1 KiB of shared memory: yes", ended.stdout)
        self.assertIn(run(program).stdout, described.values())

    def test_foreign_programs(self):
        """Programs that know nothing of this project and check their own values."""
        sources = sorted((HERE / "foreign").glob("*.cu"))
        self.assertGreater(len(sources), 0)
        for source in sources:
            with self.subTest(source.name):
                program = self.compiled(source)
                report, ended = self.report_of(program)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual(ended.stderr, "")
                self.assertGreater(len(report["launches"]), 0)
                total = sum(
                    value
                    for launch in report["launches"]
                    for value in launch["counters"].values()
                )
                self.assertGreater(total, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simcc", type=pathlib.Path, required=True)
    parser.add_argument("--hazard-cases", type=pathlib.Path, required=True)
    parser.add_argument("--counted-cases", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*", help="unittest names, all by default")
    parser.parse_args(namespace=options)
    for name in ("simcc", "hazard_cases", "counted_cases"):
        setattr(options, name, getattr(options, name).resolve())
    program = unittest.main(argv=[sys.argv[0], *options.tests], exit=False, verbosity=1)
    result = program.result
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
