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

cudaError_t wasteful(Waste waste, const float* input, const float* mask, float* output, int n,
                     int width, int first, int last, int threads) {
  const int blocks = waste == Waste::one_block ? 1 : (n - 1) / threads + 1;
  const size_t bytes = waste == Waste::shared_memory ? 48 * 1024 : 0;
  const auto kernel = waste == Waste::doubles ? wasteful_kernel<double> : wasteful_kernel<float>;
  void* forgotten = nullptr;
  if (waste == Waste::leak && cudaMalloc(&forgotten, 256) != cudaSuccess) return cudaGetLastError();
  kernel<<<blocks, threads, bytes>>>(input, mask, output, n, width, first, last);
  return cudaGetLastError();
}

}  // namespace halo::planted
