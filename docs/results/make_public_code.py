#!/usr/bin/env python3
"""Runs public programs in the simulator, at named commits, and keeps what was said of the lines that docs/real_bugs.md tells of.

    docs/results/make_public_code.py --simcc build/common/simt/cudart/simcc --clones DIR            write public_code.json
    docs/results/make_public_code.py --simcc build/common/simt/cudart/simcc --clones DIR --check    exit 1 if it differs

What is not in DIR is cloned into it, by git. A program is changed only in its sizes, so that it takes seconds (EDITS), and
cuBLAS, which does not run in the simulator, is stood in for. No part of the tests: it needs the network. A finding is kept if it
is of the kind and line that PROGRAMS names; if there is none, that is an error.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "results" / "public_code.json"
LLM_C = ("karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a")
OLCF = ("olcf/cuda-training-series", "9cd77d539d85ee3457e09a083ba299b787b7a16e")

# What stands in for cuBLAS: its names, and a plain product.
CUBLAS = """#pragma once
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_16F };
enum { CUBLAS_LOWP, CUBLAS_LOWP_COMPUTE, CUBLAS_GEMM_DEFAULT };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
typedef int cublasHandle_t;
typedef int cublasLtHandle_t;
inline cublasStatus_t cublasCreate(int*) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(int) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtCreate(int*) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(int, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
static __global__ void plain_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, long sa,
                                  const float* b, int ldb, long sb, float beta, float* c, int ldc, long sc) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  a += blockIdx.y * sa, b += blockIdx.y * sb, c += blockIdx.y * sc;
  const int row = i % m, column = i / m;
  float sum = 0;
  for (int j = 0; j < k; ++j)
    sum += (ta ? a[row * lda + j] : a[j * lda + row]) * (tb ? b[j * ldb + column] : b[column * ldb + j]);
  c[column * ldc + row] = beta == 0 ? alpha * sum : alpha * sum + beta * c[column * ldc + row];
}
inline cublasStatus_t cublasSgemmStridedBatched(int, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                                const float* alpha, const float* a, int lda, long sa, const float* b,
                                                int ldb, long sb, const float* beta, float* c, int ldc, long sc,
                                                int count) {
  plain_gemm<<<dim3((m * n + 255) / 256, count), 256>>>(ta == CUBLAS_OP_T, tb == CUBLAS_OP_T, m, n, k, *alpha, a, lda,
                                                        sa, b, ldb, sb, *beta, c, ldc, sc);
  return CUBLAS_STATUS_SUCCESS;
}
template <class... Arguments>
cublasStatus_t cublasGemmStridedBatchedEx(Arguments...) { abort(); }  // in no kernel that is run
"""
# Of these headers the programs need no more.
STAND_INS = {"cublas_v2.h": CUBLAS, "cublasLt.h": "#include <cublas_v2.h>\n"}

BLOCKS = "int block_sizes[] = {32, 64, 128, 256, 512, 1024};"
SMALL = [("int T = 1024;", "int T = 64;"), ("int C = 768;", "int C = 96;"), ("int NH = 12;", "int NH = 2;")]
# Name: repository, file, its other files, edits, arguments, and the findings: (line, kind).
PROGRAMS = {
    "softmax": (LLM_C, "dev/cuda/softmax_forward.cu", ["dev/cuda/common.h"],
                [("int B = 8;", "int B = 1;"), ("int T = 1024;", "int T = 8;"), ("int V = 50257;", "int V = 640;"),
                 (BLOCKS, "int block_sizes[] = {128};")], ["4"], [(288, "race")]),
    "attention_backward": (LLM_C, "dev/cuda/attention_backward.cu", ["dev/cuda/common.h"],
                           [("int B = 4;", "int B = 1;"), *SMALL, (BLOCKS, "int block_sizes[] = {256};")], ["7"],
                           [(651, "race")]),
    "attention_forward": (LLM_C, "dev/cuda/attention_forward.cu", ["dev/cuda/common.h"],
                          [("#define ENABLE_BF16", ""), ("int B = 8;", "int B = 1;"), *SMALL,
                           ("int block_sizes[] = {32, 64, 128, 256, 512};", "int block_sizes[] = {32};")], ["2"],
                          [(531, "uninitialized_global_read")]),
    "fused_residual": (LLM_C, "dev/cuda/fused_residual_forward.cu", ["dev/cuda/common.h"],
                       [("#define ENABLE_BF16", ""), ("int B = 8;", "int B = 1;"), ("int T = 1024;", "int T = 100;"),
                        (BLOCKS, "int block_sizes[] = {32};")], ["2"], [(134, "out_of_bounds")]),
    "axpy": (OLCF, "exercises/hw13/axpy_stream_capture_timer.cu", [],
             [("#define N 500000", "#define N 1000"), ("i < 100;", "i < 1;"), ("i < 1000;", "i < 1;")], [],
             [(27, "uninitialized_global_read")]),
}


def fail(text):
    sys.exit(f"make_public_code: {text}")


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def clone_of(repository, commit, clones):
    folder = clones / repository.replace("/", "+")
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
        git(folder, "fetch", "--quiet", "--depth", "1", f"https://github.com/{repository}", commit)
    return folder


def run_one(name, simcc, clones, place):
    (repository, commit), file, others, edits, arguments, wanted = PROGRAMS[name]
    clone = clone_of(repository, commit, clones)
    folder = place / name
    for one in [file, *others]:
        text = git(clone, "show", f"{commit}:{one}")
        for old, new in edits if one == file else []:
            if old not in text and old != "i < 1000;":
                fail(f"{name}: {one} has no: {old}")
            text = text.replace(old, new)
        path = folder / one
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for header, text in STAND_INS.items():
        path = folder / "stand_ins" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    settings = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    report = folder / "report.json"
    settings |= {"LC_ALL": "C", "SIMT_REPORT": str(report)}
    built = subprocess.run([simcc, "-Istand_ins", file, "-o", "program"], cwd=folder, capture_output=True, text=True,
                           check=False, env=settings)
    if built.returncode != 0:
        fail(f"{name} does not compile:\n{built.stderr}")
    ran = subprocess.run(["./program", *arguments], cwd=folder, capture_output=True, text=True, check=False,
                         env=settings, timeout=600)
    said = []
    for launch in json.loads(report.read_text(encoding="utf-8"))["launches"]:
        for finding in launch["findings"]:
            if not finding["file"].endswith(file) or (finding["line"], finding["kind"]) not in wanted:
                continue
            times = f"{finding['count']} time{'s' if finding['count'] != 1 else ''}"
            line = f"{finding['file']}:{finding['line']}: {finding['kind']}: {finding['message']} ({times})"
            line = line.replace(f"{folder}/", "")
            if line.split(" (")[0] not in [one.split(" (")[0] for one in said]:
                said.append(line)
    if len(said) < len(wanted):
        fail(f"{name}: not all of {wanted} was said, but: {ran.stderr[-2000:]}")
    return {"name": name, "repository": repository, "commit": commit, "file": file, "status": ran.returncode,
            "said": said}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--simcc", required=True, type=pathlib.Path, help="the simulator's compiler")
    parser.add_argument("--clones", required=True, type=pathlib.Path, help="where the repositories are, or are put")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the record differs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        runs = [run_one(name, arguments.simcc.resolve(), arguments.clones, pathlib.Path(place)) for name in PROGRAMS]
    text = json.dumps({"schema_version": 1, "command": "docs/results/make_public_code.py", "runs": runs}, indent=1) + "\n"
    if not arguments.check:
        RECORD.write_text(text, encoding="utf-8")
    elif not RECORD.is_file() or RECORD.read_text(encoding="utf-8") != text:
        sys.exit(f"{RECORD.name} differs:\n{text}")
    print(f"make_public_code: {len(runs)} programs{', all as recorded' if arguments.check else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
