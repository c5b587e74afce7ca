#include "tests/harness/planted/planted_costs.hpp"

namespace halo::planted {

template <class Sum>
__global__ void wasteful_kernel(const float* input, const float* mask, float* output, int n,
                                int width, int first, int last) {
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    const int i = start + threadIdx.x;
    if (i < first || i >= last) continue;
    Sum sum = 0;
    for (int j = 0; j < width; ++j) {
      const int k = i - width / 2 + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];  // [bug:doubles]
    }
    output[i] = sum;  // [bug:doubles-end]
  }
}

__global__ void multiply_nothing() {
  float sum = 0;
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %0, %0, %0}, {%1, %1}, {%1}, "
      "{%0, %0, %0, %0};"
      : "+f"(sum)
      : "r"(0));  // [bug:tensor_cores] nvcc's line of the instruction is that of its last operand
}

cudaError_t wasteful(Waste waste, const float* input, const float* mask, float* output, int n,
                     int width, int first, int last, int threads) {
  const int blocks = waste == Waste::one_block ? 1 : (n - 1) / threads + 1;
  const size_t bytes = waste == Waste::shared_memory ? 48 * 1024 : 0;
  const auto kernel = waste == Waste::doubles ? wasteful_kernel<double> : wasteful_kernel<float>;
  void* forgotten = nullptr;
  if (waste == Waste::leak && cudaMalloc(&forgotten, 256) != cudaSuccess) return cudaGetLastError();
  kernel<<<blocks, threads, bytes>>>(input, mask, output, n, width, first, last);
  if (waste == Waste::tensor_cores) multiply_nothing<<<1, 64>>>();
  return cudaGetLastError();
}

}  // namespace halo::planted
