// What a thread of register_tile.cu does of one channel: its filters and pixels from shared memory to registers, and their
// products to its sums.
#pragma once

#include "common/convolve/register_tile/shape.cuh"

namespace halo::convolve {

// The sums of filters from `first` on begin with their biases. Those of filters that do not exist nobody stores.
template <class T>
__device__ inline void begin_with(const float* bias,  // [K]
                                  int first, int K, typename T::Sums& sums) {
#pragma unroll
  for (int i = 0; i < T::kSumFilters; ++i) {
    const float own_bias = bias[min(T::filter(first, i), K - 1)];
#pragma unroll
    for (int j = 0; j < T::kSumPixels; ++j) sums[i][j] = own_bias;
  }
}

// Every kLanes-th quad of shared memory, to registers.
__device__ inline void read_quad(const float* from, float* to) {
  const float4 quad = *reinterpret_cast<const float4*>(from);
  to[0] = quad.x;
  to[1] = quad.y;
  to[2] = quad.z;
  to[3] = quad.w;
}
template <int kLanes, int kCount>
__device__ inline void read_quads(const float* from, float (&to)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) read_quad(from + i * kLanes, to + i);
}

// The outer product of a thread's filters and pixels, of one channel. Back and forth: at the turns, too, a
// multiply-add then shares a factor with the one before, and need not read it from the registers, of which it can
// read only two at once. (12 x 8 per thread gained 14 %, smaller tiles, whose order nvcc finds itself, lost 1 %.)
template <class T, bool kBackAndForth>
__device__ inline void add_products(const float (&filters)[T::kSumFilters],
                                    const float (&pixels)[T::kSumPixels], typename T::Sums& sums) {
#pragma unroll
  for (int j = 0; j < T::kSumPixels; ++j) {
#pragma unroll
    for (int step = 0; step < T::kSumFilters; ++step) {
      const int i = kBackAndForth && j % 2 == 1 ? T::kSumFilters - 1 - step : step;
      sums[i][j] += filters[i] * pixels[j];
    }
  }
}

}  // namespace halo::convolve
