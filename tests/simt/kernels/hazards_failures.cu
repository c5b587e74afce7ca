// Kernels that end themselves: planted, and the correct twins.
#include <cuda_runtime.h>

#include <cassert>

#include "hazard_runs.cuh"
#include "hazards.hpp"

namespace {

__global__ void asserts_too_much(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < 100);  // BUG asserts_too_much
  out[i] = i;
}

__global__ void asserts_what_holds(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < 128);
  out[i] = i;
}

__global__ void traps(float* out) {
  if (threadIdx.x == 5) __trap();  // BUG traps
  out[threadIdx.x] = 1;
}

__global__ void divides_by_zero(float* out) {
  const int t = threadIdx.x;
  const int steps = 64 / (t % 10 - 3);  // BUG divides_by_zero
  out[blockIdx.x * 64 + t] = steps;
}

__global__ void divides_by_zero_as_float(float* out) {
  const int t = threadIdx.x;
  out[blockIdx.x * 64 + t] = 64.0f / (t % 10 - 3);
}

__global__ void local_array(float* out) {
  float cells[120 << 10];  // 480 kB: a GPU has as much
  for (int i = threadIdx.x; i < 120 << 10; i += 64) cells[i] = i;
  out[threadIdx.x] = cells[threadIdx.x];
}

// How deep it comes depends on where its stack begins, so it touches no memory that is counted.
__device__ __noinline__ float deep(int n) { return n < 0 ? 0 : n + deep(n + 1) / 2; }  // BUG deep

__global__ void recursion_without_end(float* out) {
  if (threadIdx.x == 7) out[7] = deep(1);
}

}  // namespace

const std::vector<HazardCase>& failure_cases() {
  static const std::vector<HazardCase> cases = {
      {"asserts_too_much", run<asserts_too_much, 2, 64>},
      {"asserts_what_holds", run<asserts_what_holds, 2, 64>},
      {"traps", run<traps, 1, 64>},
      {"divides_by_zero", run<divides_by_zero, 2, 64>},
      {"divides_by_zero_as_float", run<divides_by_zero_as_float, 2, 64>},
      {"local_array", run<local_array, 1, 64>},
      {"recursion_without_end", run<recursion_without_end, 1, 64>},
  };
  return cases;
}
