#include <cassert>
#include <cstdio>

#include "tests/harness/planted/planted_launches.hpp"

namespace halo::planted {

__device__ float sum_at(const float* input, const float* mask, int n, int width, int i) {
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    const int k = i - width / 2 + j;
    if (k >= 0 && k < n) sum += input[k] * mask[j];
  }
  return sum;
}

__global__ void printing_kernel(const float* input, const float* mask, float* output, int n,
                                int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("n is %d\n", n);
  if (i >= first && i < last) output[i] = sum_at(input, mask, n, width, i);
}

cudaError_t prints_and_leaks(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last, int threads) {
  void* lost = nullptr;
  cudaMalloc(&lost, 100);
  printing_kernel<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void asserting_kernel(const float* input, const float* mask, float* output, int n,
                                 int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < 40);  // [bug:assert]
  if (i >= first && i < last) output[i] = sum_at(input, mask, n, width, i);
}

cudaError_t asserts_few_outputs(const float* input, const float* mask, float* output, int n,
                                int width, int first, int last, int) {
  asserting_kernel<<<n, 1>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void dividing_kernel(const float* input, const float* mask, float* output, int n,
                                int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int part = n / (40 / (1 + i / 40));  // [bug:division]
  if (part >= 0 && i >= first && i < last) output[i] = sum_at(input, mask, n, width, i);
}

cudaError_t divides_by_zero(const float* input, const float* mask, float* output, int n, int width,
                            int first, int last, int threads) {
  dividing_kernel<<<40 * n, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

cudaError_t too_many_threads(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last, int) {
  asserting_kernel<<<1, 2048>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

}  // namespace halo::planted
