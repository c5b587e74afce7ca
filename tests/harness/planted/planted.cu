#include "tests/harness/planted/planted.hpp"

namespace halo::planted {

__global__ void no_barrier_kernel(const float* input, const float* mask, float* output, int n,
                                  int width, int first, int last) {
  extern __shared__ float tile[];
  const int halo = (width - 1) / 2;
  const int t = threadIdx.x;
  const int tile_start = static_cast<int>(blockIdx.x * blockDim.x) - halo;
  for (int s = t; s < static_cast<int>(blockDim.x) + 2 * halo; s += blockDim.x) {
    const int k = tile_start + s;
    tile[s] = k >= 0 && k < n ? input[k] : 0.0f;
  }
  // [bug:no-barrier] __syncthreads() belongs here.
  const int i = blockIdx.x * blockDim.x + t;
  if (i < first || i >= last) return;
  float sum = 0;
  for (int j = 0; j < width; ++j) sum += tile[t + j] * mask[j];
  output[i] = sum;
}

cudaError_t no_barrier(const float* input, const float* mask, float* output, int n, int width,
                       int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  no_barrier_kernel<<<blocks, threads, (threads + width - 1) * sizeof(float)>>>(
      input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__device__ float tap_sum(const float* input, const float* mask, int n, int width, int i) {
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    const int k = i - width / 2 + j;
    if (k >= 0 && k < n) sum += input[k] * mask[j];
  }
  return sum;
}

__global__ void reads_past_end_kernel(const float* input, const float* mask, float* output, int n,
                                      int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  const float next = input[i + 1];  // [bug:past-end]
  output[i] = tap_sum(input, mask, n, width, i) + (i + 1 < n ? 0.0f : 0.0f * next);
}

cudaError_t reads_past_end(const float* input, const float* mask, float* output, int n, int width,
                           int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  reads_past_end_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void uninitialised_kernel(const float* input, const float* mask, float* output, int n,
                                     int width, int first, int last) {
  extern __shared__ float cells[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  const bool never = cells[threadIdx.x] == 12345.0f;  // [bug:uninitialised]
  output[i] = tap_sum(input, mask, n, width, i) + (never ? 1.0f : 0.0f);
}

cudaError_t uninitialised(const float* input, const float* mask, float* output, int n, int width,
                          int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  uninitialised_kernel<<<blocks, threads, threads * sizeof(float)>>>(input, mask, output, n, width,
                                                                     first, last);
  return cudaGetLastError();
}

__global__ void reads_twice_kernel(const float* input, const volatile float* mask, float* output,
                                   int n, int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    const int k = i - width / 2 + j;
    if (k >= 0 && k < n) sum += input[k] * (0.0f * mask[j] + mask[j]);
  }
  output[i] = sum;
}

cudaError_t reads_twice(const float* input, const float* mask, float* output, int n, int width,
                        int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  reads_twice_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void seldom_wrong_kernel(const float* input, const float* mask, float* output, int n,
                                    int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  float sum = tap_sum(input, mask, n, width, i);
  if (n == 1234567) {
    sum += input[0];  // [bug:seldom]
    output[n] = sum;  // [bug:seldom-end]
  }
  output[i] = sum;
}

cudaError_t seldom_wrong(const float* input, const float* mask, float* output, int n, int width,
                         int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  seldom_wrong_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void float_index_kernel(const float* input, const float* mask, float* output, int n,
                                   int width, int first, int last) {
  const int i = static_cast<int>(static_cast<float>(blockIdx.x * blockDim.x + threadIdx.x));
  if (i < first || i >= last) return;
  output[i] = tap_sum(input, mask, n, width, i);
}

cudaError_t float_index(const float* input, const float* mask, float* output, int n, int width,
                        int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  float_index_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void changes_input_kernel(const float* input, const float* mask, float* output, int n,
                                     int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  output[i] = tap_sum(input, mask, n, width, i);
  if (i == last - 1 && i > 1 << 30) const_cast<float*>(input)[n / 2] = 0.0f;
}

cudaError_t changes_input(const float* input, const float* mask, float* output, int n, int width,
                          int first, int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  changes_input_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

__global__ void right_kernel(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;
  output[i] = tap_sum(input, mask, n, width, i);
}

cudaError_t right(const float* input, const float* mask, float* output, int n, int width, int first,
                  int last, int threads) {
  const int blocks = (n - 1) / threads + 1;
  right_kernel<<<blocks, threads>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

}  // namespace halo::planted
