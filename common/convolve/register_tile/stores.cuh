// How the sums of register_tile.cu leave, where a tile is one block's.
#pragma once

#include "common/convolve/register_tile/shape.cuh"

namespace halo::convolve {

// A thread's sums from registers to the outputs. P * Q is a multiple of four: quads of outputs are aligned,
// and none has pixels of two images.
template <class T>
__device__ inline void store_quads(const typename T::Sums& sums, const TileOutputs& to, int filter,
                                   int pixel) {
  const int map = to.layer.P * to.layer.Q;
#pragma unroll
  for (int j = 0; j < T::kSumPixels; j += 4) {
    const int at = pixel + j * T::kColumns;
    if (at >= to.layer.N * map) continue;
    float* maps = to.output + at / to.by.map * (to.layer.K - 1) * map + at;
#pragma unroll
    for (int i = 0; i < T::kSumFilters; ++i) {
      const int k = T::filter(filter, i);
      if (k >= to.layer.K) continue;
      *reinterpret_cast<float4*>(maps + k * map) =
          make_float4(to.positive(sums[i][j]), to.positive(sums[i][j + 1]),
                      to.positive(sums[i][j + 2]), to.positive(sums[i][j + 3]));
    }
  }
}

// From registers to shared memory, and from there to the outputs, so that the lanes of a warp store neighbours
// whatever P and Q are.
template <class T>
__device__ inline void store_rows(const typename T::Sums& sums,
                                  float* on_chip,  // [kFilters][kPitch]
                                  const TileOutputs& to, int own_filter, int own_pixel) {
  constexpr int kPitch = T::kPixels + 4;  // the float4 of neighbouring rows are in other banks
#pragma unroll
  for (int i = 0; i < T::kSumFilters; ++i) {
    float* row = on_chip + T::filter(own_filter, i) * kPitch + own_pixel;
#pragma unroll
    for (int j = 0; j < T::kSumPixels; j += 4) {
      *reinterpret_cast<float4*>(row + j * T::kColumns) =
          make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
  }
  __syncthreads();
  const int map = to.layer.P * to.layer.Q;
  const int column = threadIdx.x % T::kPixels;
  const int pixel = to.first_pixel + column;
  if (pixel >= to.layer.N * map) return;
  float* maps = to.output + (pixel / to.by.map * (to.layer.K - 1) + to.first_filter) * map + pixel;
  const int end = min(T::kFilters, to.layer.K - to.first_filter);
#pragma unroll 8
  for (int row = threadIdx.x / T::kPixels; row < end; row += T::kThreads / T::kPixels) {
    maps[row * map] = to.positive(on_chip[row * kPitch + column]);
  }
}

}  // namespace halo::convolve
