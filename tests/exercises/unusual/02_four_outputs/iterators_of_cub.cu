// CUB's iterators read and write; the four outputs are an array of the standard's, the two orders two types.
#include <cuda_runtime.h>

#include <concepts>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cuda/std/array>
#include <cuda/std/span>

#include "common/exercise/exercise.h"

struct Run {
  __device__ int first() const { return 4 * (blockIdx.x * blockDim.x + threadIdx.x); }
  __device__ int step() const { return 1; }
};
struct Columns {
  __device__ int first() const { return 4 * blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ int step() const { return blockDim.x; }
};
template <class T>
concept Order = requires(T order) {
  { order.first() } -> std::same_as<int>;
  { order.step() } -> std::same_as<int>;
};

template <Order Its>
__global__ void outputs(cub::CacheModifiedInputIterator<cub::LOAD_LDG, float> cells,
                        cub::CacheModifiedInputIterator<cub::LOAD_CA, float> taps,
                        cuda::std::span<float> output, int width, Its order) {
  const int n = static_cast<int>(output.size());
  cuda::std::array<float, 4> sums{};
  for (int j = 0; j < width; ++j) {
    const float tap = taps[j];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int k = order.first() + r * order.step() - width / 2 + j;
      if (0 <= k && k < n) sums[r] = fmaf(cells[k], tap, sums[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    if (const int i = order.first() + r * order.step(); i < n) output[i] = sums[r];
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads, int step) {
  const int blocks = (n + 4 * threads - 1) / (4 * threads);
  const auto begin = [&](auto order) {
    outputs<<<blocks, threads>>>({input}, {mask}, {output, static_cast<size_t>(n)}, width, order);
  };
  step == 1 ? begin(Run{}) : begin(Columns{});
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
