// Stage 08: complex products of a warp on tensor cores, each factor in two parts. For 9_fourier_split.cu.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "stages/08_multi_channel_stride_fixed/fourier.cuh"

namespace halo::multi_channel_stride_fixed {

// What one instruction takes: 16 filters and 8 tiles, 8 channels. A warp has two times four of them.
constexpr int kFilterFragments = 2, kTileFragments = 4, kDepth = 8;
constexpr int kWarpFilters = 16 * kFilterFragments, kWarpTiles = 8 * kTileFragments;
using Sums = float[kFilterFragments][kTileFragments][4];

// value = big + small, both of TF32, but for the last bit of 24. `big` is rounded by hand; the last 13 bits of `small`
// are left to tensor cores, which do not look at them.
struct Parts {
  uint32_t big, small;
};
__device__ __forceinline__ Parts split(float value) {
  const uint32_t big = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
  return {big, __float_as_uint(value - __uint_as_float(big))};
}

// sums[16][8] += filters[16][8] * tiles[8][8]. Lane 4*g + t has of the filters rows g and g + 8 of column t, then of
// column t + 4; of the tiles column g of rows t and t + 4; of the sums columns 2*t and 2*t + 1 of row g, then of g + 8.
__device__ __forceinline__ void multiply(float (&sums)[4], const uint32_t (&filters)[4],
                                         const uint32_t (&tiles)[2]) {
  // GPUs before have no TF32: they are compiled for and never get here.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(filters[0]), "r"(filters[1]), "r"(filters[2]), "r"(filters[3]), "r"(tiles[0]),
        "r"(tiles[1]));
#endif
}

// What a warp multiplies in one step, 8 channels: of channels t and t + 4 two neighbouring filters for each fragment,
// which are its rows g and g + 8, and of tiles two for each pair of fragments, a column of either.
struct Operands {
  float4 filters[kFilterFragments][2];  // two complex numbers
  float4 tiles[kTileFragments / 2][2];
};

// One of Gauss's three products. `of_filter` and `of_tile` make of a complex number the real one that is multiplied. The
// small products come first, so that they meet no large sum before they met each other; each goes through all eight
// sums before the next, since an instruction that waits for the one before takes five times as long.
template <class OfFilter, class OfTile>
__device__ __forceinline__ void multiply(Sums& sums, const Operands& all, OfFilter of_filter,
                                         OfTile of_tile) {
  uint32_t big_filters[kFilterFragments][4], small_filters[kFilterFragments][4];
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float4 two = all.filters[i][e / 2];
      const Parts parts = split(e % 2 == 0 ? of_filter(two.x, two.y) : of_filter(two.z, two.w));
      big_filters[i][e] = parts.big;
      small_filters[i][e] = parts.small;
    }
  }
  uint32_t big_tiles[kTileFragments][2], small_tiles[kTileFragments][2];
#pragma unroll
  for (int j = 0; j < kTileFragments; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float4 two = all.tiles[j / 2][e];
      const Parts parts = split(j % 2 == 0 ? of_tile(two.x, two.y) : of_tile(two.z, two.w));
      big_tiles[j][e] = parts.big;
      small_tiles[j][e] = parts.small;
    }
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j) multiply(sums[i][j], small_filters[i], big_tiles[j]);
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j) multiply(sums[i][j], big_filters[i], small_tiles[j]);
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j) multiply(sums[i][j], big_filters[i], big_tiles[j]);
  }
}

}  // namespace halo::multi_channel_stride_fixed
