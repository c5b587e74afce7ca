// Device functions that load for a kernel: the load must be counted, and at the line where it
// stands.
#pragma once

#include <cuda_runtime.h>

inline __device__ float load_in_inline_helper(const float* in, int i) {
  return in[i];  // LINE inline-helper
}

[[maybe_unused]] static __device__ __noinline__ float load_in_noinline_helper(const float* in,
                                                                              int i) {
  return in[i];  // LINE noinline-helper
}
