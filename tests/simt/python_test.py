#!/usr/bin/env python3
"""The simulator from Python (common/simt/python): compiling, launching, what is found, checks,
programs, and the plugin for pytest. Run by Meson, which passes simcc. Ends with 77 without NumPy.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "common" / "simt" / "python"
EXAMPLES = ROOT / "docs" / "examples"

try:
    import numpy as np
except ImportError:
    print("NOT RUN: NumPy is not installed (Debian, Ubuntu: apt-get install python3-numpy)")
    sys.exit(77)

sys.path.insert(0, str(PACKAGE))
import simt  # noqa: E402
from simt import _device  # noqa: E402

KERNELS = r"""
#include <cuda_fp16.h>

struct Range { int first; double step; };

__constant__ float weights[4];
__device__ int total;
namespace bias { __constant__ int value = 5; }

extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void __launch_bounds__(64) shifted(const long long* from,
                                                       long long* to /* not x */) {
  to[threadIdx.x] = from[threadIdx.x] + 1;
}
__global__ void beyond(float* y, int by) { y[threadIdx.x + by] = 1; }  // BEYOND
__global__ void turned(int* numbers) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  numbers[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void same(int* cell) { *cell = 4; }
__global__ void endless(volatile int* y) { while (*y == 0) y[1] += 1; }
__global__ void wrong() { assert(threadIdx.x > 90); }
__global__ void by_value(Range range, double* out) {
  out[threadIdx.x] = range.first + range.step * threadIdx.x;
}
__global__ void halves(__half a, const __half* x, __half* y, bool twice) {
  y[threadIdx.x] = a * x[threadIdx.x] * __half(twice ? 2.0f : 1.0f);
}
enum Mode { first, second };
typedef double Number;
extern "C" __global__ void named(Mode mode, Number number, double* out) {
  *out = number + (mode == second);
}
__global__ void vectors(float4 a, float4* y) { y[threadIdx.x] = a; }
__global__ void flags(const bool* in, bool* out, unsigned char* bytes) {
  out[threadIdx.x] = !in[threadIdx.x];
  bytes[threadIdx.x] = 200;
}
__global__ void transpose(const int (*in)[3], int* out, int rows) {
  out[threadIdx.x * rows + threadIdx.y] = in[threadIdx.y][threadIdx.x];
}
__global__ void weighted(float* out) { out[threadIdx.x] = weights[threadIdx.x] + bias::value; }
__global__ void add_up(int by) { atomicAdd(&total, by); }
__global__ void fill(int* out, int n) {
  if (threadIdx.x >= n) return;  // FILL
  out[threadIdx.x] = 7;
}
__global__ void sum(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }
__global__ void structures(Range* ranges, int n);
__global__ void structures(Range* ranges, int n) {
  if (threadIdx.x < n) ranges[threadIdx.x].step = 0.5;
}
__global__ void complex_numbers(float2* z) { z[threadIdx.x].y = 4; }
__global__ void unknown() {
  unsigned sum;
  asm volatile("multimem.ld_reduce.weak.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(0ull));
}
__global__ void maybe(float* a) { if (a != nullptr) a[0] = 1; }
__global__ void dynamic(int* out) {
  extern __shared__ int places[];
  places[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = places[blockDim.x - 1 - threadIdx.x];
}
__global__ void talk() { printf("thread %d\n", threadIdx.x); }
namespace inner { static __global__ void hidden(int* p) { *p = 3; } }
template <class T, int N> __global__ void filled(T* out) { out[threadIdx.x] = N; }
template <class T> __global__ void scaled(T a, const T* x, T* y) { y[threadIdx.x] = a * x[threadIdx.x]; }
"""
NAMES = ["filled<float, 3>", "filled< unsigned long, 1 + 4 >", "inner::hidden", "scaled<float>"]
options = argparse.Namespace()


def line_of(marker):
    lines = enumerate(KERNELS.splitlines(), 1)
    return next(number for number, line in lines if line.endswith(f"// {marker}"))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = simt.compile(KERNELS, names=NAMES, seconds=20)

    def refused(self, call, *words, kind=simt.ArgumentError):
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def run_python(self, *words, **variables):
        env = {**os.environ, "PYTHONPATH": str(PACKAGE), **variables}
        words = [sys.executable, "-B", *words]
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(words, env=env, text=True, **output)


class Compiling(Case):
    def test_kernels_have_names_and_parameters(self):
        for name in ("saxpy", "inner::hidden", "filled<float, 3>", "filled<unsigned long, 5>", "scaled<float>"):
            self.assertEqual(self.module.kernels.count(name), 1)
        written = [str(one) for one in self.module.saxpy.parameters]
        self.assertEqual(written, ["int n", "float a", "const float* __restrict__ x", "float* y"])
        self.assertEqual(self.module.by_value.parameters[0].bytes, 16)
        self.assertTrue(self.module.saxpy.parameters[2].is_const)

    def test_an_unknown_kernel_lists_those_there_are(self):
        self.refused(lambda: self.module["saxpi"], "no kernel saxpi", "saxpy, ", kind=simt.Error)
        self.refused(lambda: self.module.saxpi, "no kernel saxpi", kind=AttributeError)
        self.refused(lambda: self.module["filled<int, 1>"], "names=[", kind=simt.Error)
        self.refused(lambda: self.module.filled, "filled<float, 3> or", kind=AttributeError)

    def test_what_nvcc_refuses_is_told_with_its_line(self):
        with self.assertRaises(simt.CompileError) as caught:
            simt.compile("__global__ void k(int* p) {\n  *p = absent;\n}\n")
        told = str(caught.exception)
        self.assertIn('kernel.cu(2): error: identifier "absent" is undefined', told)
        self.assertNotIn("/", told)
        with self.assertRaises(simt.CompileError) as caught:
            simt.compile("__global__ void k() {}\n", options=["--no-such-option"])
        self.assertIn("no-such-option", str(caught.exception))
        with self.assertRaises(simt.CompileError):
            simt.compile("__global__ void k() {}\n", names=["absent<int>"])

    def test_a_file_is_compiled_anew_when_what_it_includes_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "two words.cu"
            header = pathlib.Path(folder) / "number.h"
            file.write_text('#include "number.h"\n__global__ void k(int* p) { *p = NUMBER; }\n')
            for number in (1, 22):
                header.write_text(f"#define NUMBER {number}\n")
                cell = np.zeros(1, np.int32)
                result = simt.compile(file).k[1, 1](cell)
                self.assertEqual(cell[0], number)
                self.assertEqual(result.all_lines[0].file, str(file.resolve()))
                self.assertEqual(result.lines[2].global_store_requests, 1)
            cell[0] = 0
            simt.compile(str(file), options=["-DOTHER"]).k[1, 1](cell)
            self.assertEqual(cell[0], 22)
        self.refused(lambda: simt.compile("absent.cu"), "absent.cu cannot be", kind=simt.Error)

    def test_ptx_is_taken_as_it_is(self):
        out = np.zeros(4, np.float64)
        layout = np.dtype([("first", "i4"), ("step", "f8")], align=True)
        result = simt.compile(self.module.ptx).by_value[1, 4](np.array((2, 0.5), layout), out)
        self.assertTrue(result.ok)
        self.assertEqual(list(out), [2, 2.5, 3, 3.5])
        broken = simt.compile(".version 8.0\n.target sm_90\n.entry k() { mov.u32 %r1, 1; }\n")
        self.refused(broken.k[1, 1], "kernel.ptx: cudaErrorInvalidPtx", kind=simt.DeviceError)

    def test_where_there_is_no_simcc_one_line_says_what_to_do(self):
        program = "import simt; simt.compile('__global__ void k() {}')"
        for home, words in (("/nowhere", "SIMT_HOME=/nowhere has no simcc"), ("", "on PATH")):
            ended = self.run_python("-c", program, SIMT_HOME=home, PATH="/nowhere")
            self.assertIn(words, ended.stdout.splitlines()[-1])

    def test_a_cache_that_cannot_be_written_is_done_without(self):
        program = "import simt; print(simt.compile('__global__ void k() {}').kernels)"
        ended = self.run_python("-c", program, XDG_CACHE_HOME="/proc/nowhere")
        self.assertEqual(ended.stdout, "('k',)\n")


class Launching(Case):
    def test_arrays_are_copied_there_and_back(self):
        n = 1000
        x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
        result = self.module.saxpy[4, 256](n, 2, x, y)
        self.assertTrue(result.ok, result)
        np.testing.assert_array_equal(y, 2 * np.arange(n) + 1)
        np.testing.assert_array_equal(x, np.arange(n))
        self.assertIs(result.outputs["y"], y)
        self.assertEqual(list(result.outputs), ["y"])
        again = self.module.launch("saxpy", 4, [256], [np.int32(n), np.float64(0.5), x, y])
        self.assertEqual((again.grid, again.block), ((4, 1, 1), (256, 1, 1)))
        self.assertEqual(y[4], 11)

    def test_types_are_the_kernel_s(self):
        y = np.zeros(8, np.float16)
        self.module.halves[1, 8](1.5, np.full(8, 2, np.float16), y, True)
        self.assertEqual(list(y), [6] * 8)
        out = np.zeros(1)
        for mode, number in ((1, 0.5), (np.int64(1), np.float32(0.5))):
            self.module.named[1, 1](mode, number, out)
            self.assertEqual(out.tolist(), [1.5])
        y = np.zeros((5, 4), np.float32)
        self.module.vectors[1, 5]((1, 2, 3, 4), y)
        self.assertEqual(y[4].tolist(), [1, 2, 3, 4])
        out, given = np.zeros(2, np.bool_), np.array([True, False])
        data = np.zeros(2, np.uint8)
        self.module.flags[1, 2](given, out, data)
        self.assertEqual(out.tolist() + data.tolist(), [False, True, 200, 200])
        out = np.zeros(64, np.int64)
        self.module.shifted[1, 64](np.full(64, 2**40), out)
        self.assertEqual(out[63], 2**40 + 1)

        class Range(ctypes.Structure):
            _fields_ = [("first", ctypes.c_int), ("step", ctypes.c_double)]

        for value in (Range(4, 0.25), bytes(Range(4, 0.25))):
            out = np.zeros(3)
            self.module.by_value[1, 3](value, out)
            self.assertEqual(out.tolist(), [4, 4.25, 4.5])

    def test_arrays_of_two_dimensions_and_templates(self):
        given, out = np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros((3, 2), np.int32)
        self.assertTrue(self.module.transpose[1, (3, 2)](given, out, 2).ok)
        np.testing.assert_array_equal(out, given.T)
        numbers = np.zeros(2, np.float32)
        self.module["filled<float, 3>"][1, 2](numbers)
        many = np.zeros(2, np.uint64)
        self.module["filled< unsigned long, 1 + 4 >"][1, 2](many)
        cell = np.zeros(1, np.int32)
        self.module.hidden[1, 1](cell)
        self.assertEqual((numbers[1], many[1], cell[0]), (3, 5, 3))

    def test_elements_may_be_structures_and_arrays_empty(self):
        ranges = np.zeros(3, np.dtype([("first", "i4"), ("step", "f8")], align=True))
        self.assertTrue(self.module.structures[1, 4](ranges, 3).ok)
        self.assertEqual(ranges["step"].tolist(), [0.5] * 3)
        self.assertEqual(str(self.module.structures.parameters[1]), "int n")
        numbers = np.zeros(2, np.complex64)
        self.module.complex_numbers[1, 2](numbers)
        self.assertEqual(numbers[1], 4j)
        for none in (ranges[:0], simt.empty((0, 3), ranges.dtype)):
            self.assertTrue(self.module.structures[1, 4](none, 0).ok)
        self.assertEqual(none.numpy().shape, (0, 3))
        self.assertFalse(self.module.structures[1, 4](ranges[:0], 1).ok)

    def test_shared_memory_is_given_at_the_launch(self):
        out = np.zeros(32, np.int32)
        self.assertEqual(self.module.dynamic[1, 32, 128](out).shared_bytes, 128)
        self.assertEqual(out.tolist(), list(range(31, -1, -1)))
        # More than 48 KiB have to be asked for first.
        self.assertTrue(self.module.dynamic[1, 32, 100_000](out).ok)
        short = self.module.dynamic[1, 32, 64](out)
        self.assertEqual({one.kind for one in short.findings}, {"out_of_bounds"})

    def test_one_array_twice_is_one_array(self):
        y = np.arange(8, dtype=np.float32)
        self.assertTrue(self.module.saxpy[1, 8](8, 1, y, y).ok)
        self.assertEqual(y.tolist(), [2 * i for i in range(8)])

    def test_a_pointer_may_be_null(self):
        self.assertTrue(self.module.maybe[1, 1](None).ok)
        result = self.module.same[1, 1](None)
        self.assertEqual(result.findings[0].kind, "invalid_address")

    def test_variables_are_written_and_read(self):
        out = np.zeros(4, np.float32)
        self.module.set("weights", np.array([1, 2, 3, 4], np.float32))
        self.module.weighted[1, 4](out)
        self.assertEqual(out.tolist(), [6, 7, 8, 9])
        self.assertEqual(self.module.get("bias::value", np.int32), [5])
        self.module.set("total", np.int32(0))
        self.module.add_up[2, 16](3)
        self.assertEqual(self.module.get("total", np.int32), [96])
        self.refused(lambda: self.module.set("weights", np.zeros(4)), "16 bytes", "float64")
        self.refused(lambda: self.module.get("weihgts", int), "weights", kind=simt.Error)
        # What the host has written is there again after a launch that ended the device.
        self.assertFalse(self.module.beyond[1, 1](out, 4).ok)
        self.module.weighted[1, 4](out)
        self.assertEqual(out.tolist(), [6, 7, 8, 9])

    def test_arrays_live_between_launches(self):
        numbers = simt.empty(32, np.int32)
        self.assertTrue(self.module.fill[1, 32](numbers, 32).ok)
        out = simt.array([0], np.int32, name="the_sum")
        self.assertTrue(self.module.sum[1, 32](numbers, out).ok)
        self.assertEqual(out.numpy(), [7 * 32])
        numbers.set(np.arange(32))
        self.module.sum[1, 32](numbers, out)
        self.assertEqual(out.numpy(), [7 * 32 + 31 * 16])
        result = self.module.sum[1, 33](numbers, out)
        self.assertEqual([one.array for one in result.findings], ["in"])
        self.refused(out.numpy, "the_sum is lost", kind=simt.DeviceError)
        zeros = np.zeros(32, np.int32)
        self.refused(lambda: self.module.sum[1, 32](zeros, out), "lost", kind=simt.DeviceError)

    def test_memory_that_nobody_wrote_is_found(self):
        out = np.zeros(1, np.int32)
        result = self.module.sum[1, 32](simt.empty(32, np.int32), out)
        self.assertEqual(result.findings[0].kind, "uninitialized_global_read")
        part = simt.empty(32, np.int32)
        self.module.fill[1, 32](part, 30)
        with simt.collect() as launches:
            part.numpy()
        (finding,) = launches[0].findings
        self.assertEqual((finding.kind, finding.severity), ("unwritten_output", "note"))
        self.assertEqual((finding.array, finding.file), ("out", ""))

    def test_arguments_that_do_not_fit_are_refused(self):
        x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
        module, run = self.module, self.module.saxpy[1, 8]
        frozen = y.copy()
        frozen.flags.writeable = False
        self.assertTrue(run(8, 1.0, frozen, y).ok)
        for call, *words in (
            (lambda: run(8, 1.0, x), "wants 4 arguments, not 3", "float* y"),
            (lambda: run(1.5, 1.0, x, y), "argument 1 (int n)", "whole number"),
            (lambda: run(2**31, 1.0, x, y), "cannot hold 2147483648"),
            (lambda: run(8, "1", x, y), "argument 2 (float a)"),
            (lambda: run(x, 1.0, x, y), "argument 1 (int n)", "is no pointer"),
            (lambda: run(8, 1.0, x.astype(float), y), "an array of float32, not of float64"),
            (lambda: run(8, 1.0, x, simt.empty(8, int)), "an array of float32, not of int64"),
            (lambda: run(8, 1.0, [1, 2], y), "argument 3", "is a pointer"),
            (lambda: run(8, 1.0, x[::2], y), "argument 3", "not contiguous"),
            (lambda: run(8, 1.0, x, frozen), "argument 4 (float* y) is read-only"),
            (lambda: run(8, 1.0, x[1:], x[:-1]), "overlaps another"),
            (lambda: run(8, 1.0, x.astype(">f4"), y), "byte order"),
            (lambda: module.named[1, 1](2**32, 0.5, np.zeros(1)), "cannot hold 4294967296"),
            (lambda: module.named[1, 1](0.5, 0.5, np.zeros(1)), "wants 4 bytes"),
            (lambda: module.by_value[1, 1](5, np.zeros(1)), "wants 16 bytes"),
            (lambda: module.by_value[1, 1](b"5", np.zeros(1)), "has 16 bytes, not 1"),
            (lambda: module.vectors[1, 1]((1, 2), x), "wants 4 numbers"),
            (lambda: module.vectors[1, 1]((1,) * 4, x[:6]), "whole vectors of 4"),
            (lambda: module.flags[1, 1](None, 5, None), "argument 2", "is a pointer"),
            (lambda: module.saxpy[1](8, 1.0, x, y), "give [grid, block]"),
            (lambda: module.saxpy[1, 2.5], "the block is one to three whole numbers"),
            (lambda: module.saxpy(8, 1.0, x, y), "needs its grid"),
        ):
            with self.subTest(words):
                self.refused(call, *words)

    def test_threads_of_the_host_take_turns(self):
        outputs = [np.zeros(32, np.int32) for _ in range(8)]
        fill = self.module.fill[1, 32]
        threads = [threading.Thread(target=fill, args=(out, 32)) for out in outputs]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertTrue(all((out == 7).all() for out in outputs))

    def test_a_process_that_was_forked_has_a_device_of_its_own(self):
        array = simt.array(np.arange(4), np.int32)
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(Exception):
                out = np.zeros(32, np.int32)
                self.module.fill[1, 32](out, 32)
                self.refused(array.numpy, "is lost", kind=simt.DeviceError)
                status = 0 if (out == 7).all() else 1
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(array.numpy().tolist(), [0, 1, 2, 3])


class WhatIsFound(Case):
    def test_a_finding_says_who_and_where(self):
        y = np.zeros(8, np.float32)
        result = self.module.beyond[1, 8](y, 2)
        self.assertFalse(result.ok)
        self.assertIn("cudaErrorIllegalAddress", result.error)
        self.assertEqual(result.outputs, {})
        self.assertEqual(y.tolist(), [0] * 8)
        (finding,) = result.findings
        self.assertEqual((finding.kind, finding.severity), ("out_of_bounds", "error"))
        self.assertEqual((finding.file, finding.line), ("kernel.cu", line_of("BEYOND")))
        self.assertEqual((finding.block, finding.thread), ((0, 0, 0), (6, 0, 0)))
        self.assertEqual((finding.array, finding.count), ("y", 2))
        with self.assertRaises(simt.FindingsError) as caught:
            result.raise_for_findings()
        self.assertIs(caught.exception.result, result)
        self.assertIn("out_of_bounds of y", str(caught.exception))

    def test_a_race_is_told_though_the_launch_succeeds(self):
        result = self.module.turned[1, 32](np.zeros(32, np.int32))
        self.assertIsNone(result.error)
        self.assertFalse(result.ok)
        finding = result.findings[0]
        self.assertEqual((finding.kind, finding.array), ("race", "tile"))
        self.assertNotEqual(finding.thread, finding.other_thread)
        self.assertEqual(finding.other_block, (0, 0, 0))

    def test_notes_fail_nothing(self):
        result = self.module.same[1, 32](np.zeros(1, np.int32))
        self.assertEqual([one.kind for one in result.findings], ["same_value_write"])
        self.assertTrue(result.ok)
        result.raise_for_findings()

    def test_counters_are_exact_for_each_line(self):
        x = np.zeros(256, np.float32)
        result = self.module.saxpy[2, 128](256, 1.0, x, x.copy())
        self.assertEqual(result.counters.global_load_sectors, 64)
        self.assertEqual(result.counters.global_store_requests, 8)
        (line,) = result.lines
        self.assertEqual(result.lines[line], result.counters)
        simt.assert_budget(result, global_load_sectors=64, barriers=0)
        with self.assertRaises(AssertionError) as caught:
            simt.assert_budget(result, global_load_sectors=63)
        self.assertIn(f"is 64, more than 63: kernel.cu:{line} has 64", str(caught.exception))
        wrong = lambda: simt.assert_budget(result, sectors=1)  # noqa: E731
        self.refused(wrong, "no counter sectors", kind=simt.Error)

    def test_what_a_kernel_prints_is_kept(self):
        self.assertEqual(self.module.talk[1, 2]().printed, "thread 0\nthread 1\n")
        many = self.module.talk[1, 128]().printed
        self.assertEqual(many.splitlines()[-1], "... and 28 lines more")

    def test_launches_that_a_gpu_refuses_say_why(self):
        for result in (self.module.talk[1, 2000](), self.module.talk[0, 1]()):
            self.assertIn("cudaErrorInvalidConfiguration", result.error)
            self.assertFalse(result.ok)
        self.assertIn("2000", self.module.talk[1, 2000]().error)
        unknown = self.module.unknown[1, 1]().error
        self.assertIn("multimem.ld_reduce.weak.global.add.u32: this form is not known", unknown)


class BadKernels(Case):
    def test_an_assertion_ends_the_launch_alone(self):
        result = self.module.wrong[1, 32]()
        self.assertEqual(result.findings[0].kind, "failed_assert")
        self.assertTrue(self.module.talk[1, 1]().ok)

    def test_a_kernel_that_does_not_end_is_ended(self):
        module = simt.compile(KERNELS, names=NAMES, seconds=1)
        result = module.endless[1, 1](np.zeros(2, np.int32))
        self.assertEqual(result.error, "time limit: more than 1 s of processor time")
        self.assertFalse(result.ok)
        self.assertTrue(module.talk[1, 1]().ok)

    def test_the_end_of_the_simulator_is_an_error_of_the_launch(self):
        self.module.talk[1, 1]()
        os.kill(_device.device()._process.pid, signal.SIGABRT)
        result = self.module.talk[1, 1]()
        self.assertEqual(result.error, "the simulator ended with signal SIGABRT")
        self.assertTrue(self.module.talk[1, 1]().ok)
        program = "import simt; print(simt.compile('__global__ void k() {}').k[1, 1]().error)"
        told = self.run_python("-c", program, SIMT_GPU="nonsense").stdout
        self.assertIn("ended with status 2: simt: SIMT_GPU=nonsense is not a GPU", told)


class Checking(Case):
    def verdict(self, reference, sizes=(1, 100, 257), **more):
        def cases():
            for n in sizes:
                x = np.arange(n, dtype=np.float32)
                args = [n, 3.0, x, np.ones(n, np.float32)]
                yield simt.Case(args, grid=(n + 127) // 128, block=128, name=f"n={n}")

        return simt.check(self.module.saxpy, reference, cases(), **more)

    def test_a_right_kernel_is_good_however_the_reference_answers(self):
        def in_place(n, a, x, y):
            y += a * x

        for reference in (
            in_place,
            lambda n, a, x, y: a * x + y,
            lambda n, a, x, y: (a * x + y,),
            lambda n, a, x, y: {"y": a * x + y},
        ):
            verdict = self.verdict(reference)
            self.assertTrue(verdict, str(verdict))
            self.assertEqual([case.name for case in verdict.cases], ["n=1", "n=100", "n=257"])
        self.assertEqual(verdict.cases[1].result.counters.global_store_requests, 4)

    def test_the_first_wrong_element_is_told(self):
        def reference(n, a, x, y):
            y += a * x
            y[3:5] += 2

        verdict = self.verdict(reference, sizes=(2, 100))
        self.assertFalse(verdict)
        self.assertTrue(verdict.cases[0].ok)
        (wrong,) = verdict.cases[1].mismatches
        self.assertEqual((wrong.output, wrong.index), ("y", (3,)))
        self.assertEqual((wrong.got, wrong.expected), (10, 12))
        self.assertEqual((wrong.wrong, wrong.size, wrong.largest_error), (2, 100, 2))
        self.assertIn("y[3] is 10.0 instead of 12.0; 2 of 100 are wrong", str(verdict))
        self.assertTrue(self.verdict(reference, sizes=(2, 100), atol=2))

    def test_findings_fail_a_case_with_right_numbers(self):
        case = simt.Case([np.zeros(1, np.int32)], grid=1, block=1)
        self.assertTrue(simt.check(self.module.same, lambda cell: cell + 4, [case]))
        cases = [simt.Case([simt.empty(32, np.int32)], 1, 32)]
        verdict = simt.check(self.module.turned, lambda out: np.arange(32)[::-1], cases)
        self.assertEqual(verdict.cases[0].mismatches, [])
        self.assertFalse(verdict.ok)
        self.assertEqual({one.kind for one in verdict.findings}, {"race"})

    def test_elements_that_nobody_wrote_are_told(self):
        cases = [simt.Case([simt.empty(32, np.int32), 20], 1, 32)]
        verdict = simt.check(self.module.fill, lambda out, n: out + 7, cases)
        self.assertEqual(verdict.cases[0].mismatches[0].index, (20,))
        self.assertEqual([one.kind for one in verdict.findings], ["unwritten_output"])

    def test_code_that_no_case_tried_is_told(self):
        def unchecked(*sizes):
            cases = [simt.Case([simt.empty(n, np.int32), n], 1, 32) for n in sizes]
            verdict = simt.check(self.module.fill, lambda out, n: np.full(n, 7), cases)
            self.assertTrue(verdict, str(verdict))
            return [(one.file, one.line) for one in verdict.unchecked]

        self.assertEqual(unchecked(32), [("kernel.cu", line_of("FILL"))])
        self.assertEqual(unchecked(32, 31), [])

    def test_cases_go_on_after_one_that_ended_the_device(self):
        cases = [simt.Case([simt.empty(8), by], 1, 8) for by in (1, 0)]
        verdict = simt.check(self.module.beyond, lambda y, by: np.ones(8), cases)
        self.assertEqual([case.ok for case in verdict.cases], [False, True], str(verdict))

    def test_references_that_do_not_fit_are_refused(self):
        for reference, words in (
            (lambda n, a, x, y: (x, y), "returns 2 arrays; the kernel writes y"),
            (lambda n, a, x, y: {"x": x}, "no output x"),
            (lambda n, a, x, y: y[:-1], "shape (0,) instead of (1,)"),
        ):
            self.refused(lambda: self.verdict(reference), words, kind=simt.Error)
        self.refused(lambda: self.verdict(None, sizes=()), "no cases", kind=simt.Error)


class Programs(Case):
    def test_a_program_s_findings_and_output_are_told(self):
        result = simt.run(EXAMPLES / "reverse.cu")
        self.assertEqual((result.returncode, result.ok, result.error), (3, False, None))
        self.assertIn("no error", result.stdout)
        self.assertIn("race", {one.kind for one in result.findings})
        self.assertEqual(result.launches[0].grid, (4, 1, 1))
        self.assertEqual(result.coverage["kernels"][0]["launches"], 1)

    def test_text_arguments_options_and_limits(self):
        source = r"""#include <cstdio>
        #include <cstring>
        __global__ void k(int* p) { p[1] = VALUE; }
        int main(int count, char** words) {
          if (!std::strcmp(words[1], "turn")) for (volatile int i = 0;; i = i + 1) {}
          int* p;
          int value;
          cudaMalloc(&p, 4 * count);
          k<<<1, 1>>>(p);
          cudaMemcpy(&value, p + 1, 4, cudaMemcpyDeviceToHost);
          std::printf("%d %s\n", value, words[count - 1]);
        }
        """
        result = simt.run(source, ["1", "a b"], options=["-DVALUE=6"])
        self.assertEqual((result.stdout, result.returncode, result.ok), ("6 a b\n", 0, True))
        self.assertEqual(result.unfreed[0]["name"], "p")
        self.assertEqual(result.launches[0].all_lines[0].file, "program.cu")
        ended = simt.run(source, ["turn"], options=["-DVALUE=6"], seconds=1)
        self.assertEqual(ended.error, "time limit: more than 1 s of processor time")
        self.assertFalse(ended.ok)
        with self.assertRaises(simt.CompileError):
            simt.run(source)
        self.refused(lambda: simt.run("/nowhere/program"), "is not there", kind=simt.Error)


class Examples(Case):
    def test_the_examples_of_the_page_print_what_it_says(self):
        page = (ROOT / "docs" / "simt_python.md").read_text()
        for name, status in (("saxpy.py", 0), ("check_kernel.py", 1)):
            ended = self.run_python(str(EXAMPLES / name))
            self.assertEqual(ended.returncode, status, ended.stdout)
            self.assertIn(f"```text\n{ended.stdout}```\n", page)

    def test_findings_fail_tests_of_pytest(self):
        if self.run_python("-c", "import pytest").returncode != 0:
            self.skipTest("pytest is not installed (Debian, Ubuntu: python3-pytest)")
        pytest = ["-m", "pytest", "-q", "-p", "simt.pytest_plugin", "-p", "no:cacheprovider"]
        good = self.run_python(*pytest, str(EXAMPLES / "test_kernels.py"))
        self.assertEqual(good.returncode, 0, good.stdout)
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder) / "test_bad.py"
            tests.write_text(f"KERNELS = r'''{KERNELS}'''\nNAMES = {NAMES}\n{BAD_TESTS}")
            ended = self.run_python(*pytest, str(tests))
        self.assertIn("4 failed, 1 passed", ended.stdout)
        for words in (
            "error: out_of_bounds of y: thread (2,0,0)",
            "same[1, 2]: good",
            "global_store_sectors is 1, more than 0",
            "more than race was found",
            "no race was found",
        ):
            self.assertIn(words, ended.stdout)


BAD_TESTS = """
import numpy as np
import pytest

@pytest.fixture
def module(simt):
    return simt.compile(KERNELS, names=NAMES)

def test_found(module):
    module.same[1, 2](np.zeros(1, np.int32))
    module.beyond[1, 4](np.zeros(4, np.float32), 2)

def test_over_budget(module, simt):
    simt.assert_budget(module.same[1, 1](np.zeros(1, np.int32)), global_store_sectors=0)

def test_expects_too_little(module, simt):
    with simt.expect('race'):
        module.turned[1, 64](np.zeros(64, np.int32))

def test_expects_what_is_not(simt):
    with simt.expect('race'):
        pass

def test_notes(module):
    module.same[1, 2](np.zeros(1, np.int32))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simcc", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*", help="unittest names, all by default")
    parser.parse_args(namespace=options)
    for name in [name for name in os.environ if name.startswith("SIMT_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SIMT_HOME"] = str(options.simcc.resolve().parent)
        os.environ["XDG_CACHE_HOME"] = cache
        program = unittest.main(argv=[sys.argv[0], *options.tests], exit=False, verbosity=1)
        _device.device().end()
    result = program.result
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
