// Kernels of which the launches in coverage.hpp leave known lines untried.
#include <cuda_runtime.h>

#include "coverage.cuh"
#include "coverage.hpp"
#include "device_array.hpp"

namespace coverage {
namespace {

constexpr int kThreads = 64;

__global__ void one_side_of_a_branch(float* data, float* other, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    data[i] = data[i] + 1.0f;  // TAKEN
  } else {
    other[i] = 0.0f;  // OTHER
  }
}

__global__ void loop(float* data, int turns) {
  float sum = 0.0f;
  for (int turn = 0; turn < turns; ++turn) {  // LOOP
    sum += data[turn];                        // BODY
    sum *= 2.0f;                              // BODY
  }
  data[threadIdx.x] = sum;
}

template <bool second>
__global__ void instantiated(float* data) {
  if constexpr (second) {
    data[threadIdx.x] = 2.0f;  // SECOND
  } else {
    data[threadIdx.x] = 1.0f;  // FIRST
  }
  data[threadIdx.x] += 3.0f;  // BOTH
}

__device__ __noinline__ float apart(float x) {
  return x * 5.0f;  // APART
}

__device__ float inside(float x) {
  return x * 7.0f;  // INSIDE
}

__global__ void helpers(float* data, bool second) {
  float x = data[threadIdx.x];
  if (second) {
    x = apart(x);  // APART
  } else {
    x = inside(x);  // INSIDE
  }
  data[threadIdx.x] = x;
}

__global__ void conditional_expression(const float* data, float* result, bool taken) {
  result[threadIdx.x] = taken ? data[threadIdx.x] : 0.0f;  // EXPRESSION
}

__global__ void included(float* data, int n) { scale_unless_small(data + threadIdx.x, n); }

// What the loop needs is computed before it, so code of its body runs although the body does not.
__global__ void hoisted(float* data, int turns, int stride) {
  for (int turn = 0; turn < turns; ++turn) {
    data[threadIdx.x * stride * 12345 + turn] += 1.0f;  // HOISTED
  }
}

__global__ void unrolled(float* data, int n) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < n) {                      // WITHIN
      data[threadIdx.x + i] += 1.0f;  // UNROLLED
    }
  }
}

}  // namespace

void run_one_side_of_a_branch(bool taken) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  DeviceArray<float> other(kThreads);
  one_side_of_a_branch<<<1, kThreads>>>(data.get(), other.get(), taken ? kThreads : 0);
}

void run_loop(int turns) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  loop<<<1, 1>>>(data.get(), turns);
}

void run_template(bool second) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  if (second) {
    instantiated<true><<<1, kThreads>>>(data.get());
  } else {
    instantiated<false><<<1, kThreads>>>(data.get());
  }
}

void run_helpers(bool second) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  helpers<<<1, kThreads>>>(data.get(), second);
}

void run_conditional_expression(bool taken) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  DeviceArray<float> result(kThreads);
  conditional_expression<<<1, kThreads>>>(data.get(), result.get(), taken);
}

void run_included(int n) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  included<<<1, kThreads>>>(data.get(), n);
}

void run_hoisted(int turns) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  hoisted<<<1, 1>>>(data.get(), turns, 1);
}

void run_unrolled(int n) {
  DeviceArray<float> data(std::vector<float>(kThreads, 1.0f));
  unrolled<<<1, 1>>>(data.get(), n);
}

}  // namespace coverage
