"""The first program of docs/simt_python.md: a kernel, launched on NumPy arrays."""

# [doc:program]
import numpy as np
import simt

module = simt.compile(r"""
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = a * x[i] + y[i];
}
""")

n = 1000
x = np.arange(n, dtype=np.float32)
y = np.ones(n, dtype=np.float32)
result = module.saxpy[4, 256](n, 2.0, x, y)  # [blocks, threads], as <<<4, 256>>>

print("good" if result.ok else result.error)
for finding in result.findings:
    print(f"line {finding.line}: {finding.kind} of {finding.array}, thread {finding.thread}")
sectors = result.counters.global_load_sectors
print(f"{sectors} sectors, {result.lines[4].global_load_sectors} in line 4")
# [/doc:program]
