// A function template that a kernel shares with host code that is not instrumented. The linker keeps
// one copy of such a function: if it were the host's, the kernel's loads would not be counted.
#pragma once

#include <cuda_runtime.h>

template <typename T>
__attribute__((noinline)) __host__ __device__ T sum_of_fifteen(const T* values) {
  T sum = 0;
  for (int i = 0; i < 15; ++i) sum += values[i];
  return sum;
}

int sum_on_host(const int* values);
int sum_on_gpu(const int* values);  // launches one thread
