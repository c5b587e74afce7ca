"""Checks a generated kernel against NumPy, on problems of many sizes (docs/simt_python.md)."""

# [doc:check]
import numpy as np
import simt

GENERATED = r"""
__global__ void row_sums(const float* m, float* sums, int rows, int columns) {
  __shared__ float part[128];
  float sum = 0;
  for (int x = threadIdx.x; x < columns; x += 128) sum += m[blockIdx.x * columns + x];
  part[threadIdx.x] = sum;
  for (int half = 64; half > 0; half /= 2) {
    if (half >= 32) __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
"""


def reference(m, sums, rows, columns):
    return m.sum(axis=1)


def cases():
    numbers = np.random.default_rng(7)
    for rows, columns in [(1, 1), (3, 127), (5, 128), (2, 1000)]:
        m = numbers.random((rows, columns), dtype=np.float32)
        sums = simt.empty(rows)  # memory that nobody has written
        yield simt.Case([m, sums, rows, columns], grid=rows, block=128, name=f"{rows} x {columns}")


verdict = simt.check(simt.compile(GENERATED).row_sums, reference, cases(), rtol=1e-5)
for case in verdict.cases:
    wrong = [f"{one.kind} of {one.array}, line {one.line}" for one in case.result.findings]
    print(f"{case.name}: numbers {'differ' if case.mismatches else 'agree'};", *(wrong or ["good"]))
# [/doc:check]
raise SystemExit(0 if verdict.ok else 1)
