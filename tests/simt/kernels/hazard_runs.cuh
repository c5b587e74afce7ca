// How most of the cases in hazards_*.cu run.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "device_array.hpp"

// A kernel that writes `out` only, with so many blocks of so many threads.
template <auto kernel, unsigned blocks = 2, unsigned threads = 64, unsigned dynamic_bytes = 0>
int run() {
  cudaDeviceReset();
  DeviceArray<float> out(std::vector<float>(blocks * threads, 0.0f));
  kernel<<<blocks, threads, dynamic_bytes>>>(out.get());
  return cudaDeviceSynchronize();
}
