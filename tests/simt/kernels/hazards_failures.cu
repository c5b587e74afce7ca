// Kernels that end themselves: planted, and the correct twins.
#include <cuda_runtime.h>

#include <cassert>

#include "device_array.hpp"
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

template <auto kernel, unsigned blocks, unsigned threads>
int run() {
  cudaDeviceReset();
  DeviceArray<float> out(std::vector<float>(blocks * threads, 0.0f));
  kernel<<<blocks, threads>>>(out.get());
  return cudaDeviceSynchronize();
}

}  // namespace

const std::vector<HazardCase>& failure_cases() {
  static const std::vector<HazardCase> cases = {
      {"asserts_too_much", run<asserts_too_much, 2, 64>},
      {"asserts_what_holds", run<asserts_what_holds, 2, 64>},
      {"traps", run<traps, 1, 64>},
  };
  return cases;
}
