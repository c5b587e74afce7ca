// What a warp of fourier_split.cu multiplies in one step, 8 channels, and how.
//
//   A warp has 32 filters by 32 tiles, 2 x 4 fragments of 16 x 8, one instruction each. Lane 4 * g + t has of them
//   (multiply_tf32 in tf32.h) filters of rows g and g + 8 and tiles of column g, both of channels t and t + 4, and sums
//   of rows g and g + 8 and columns 2 * t and 2 * t + 1.
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/tf32.h"

namespace halo::convolve {

// What one instruction takes: 16 filters and 8 tiles, 8 channels. A warp has two times four of them.
constexpr int kFilterFragments = 2, kTileFragments = 4, kDepth = 8;
constexpr int kWarpFilters = 16 * kFilterFragments, kWarpTiles = 8 * kTileFragments;
using FragmentSums = float[kFilterFragments][kTileFragments][4];

// What a warp multiplies in one step, 8 channels: of channels t and t + 4 two neighbouring filters for each fragment,
// which are its rows g and g + 8, and of tiles two for each pair of fragments, a column of either.
struct ComplexOperands {
  float4 filters[kFilterFragments][2];  // two complex numbers
  float4 tiles[kTileFragments / 2][2];
};

// One of Gauss's three products. `of_filter` and `of_tile` make of a complex number the real one that is multiplied. The
// small products come first, so that they meet no large sum before they met each other; each goes through all eight
// sums before the next, since an instruction that waits for the one before takes five times as long.
template <class OfFilter, class OfTile>
__device__ __forceinline__ void multiply(FragmentSums& sums, const ComplexOperands& all,
                                         OfFilter of_filter, OfTile of_tile) {
  uint32_t big_filters[kFilterFragments][4], small_filters[kFilterFragments][4];
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float4 two = all.filters[i][e / 2];
      const Tf32Parts parts =
          tf32_parts(e % 2 == 0 ? of_filter(two.x, two.y) : of_filter(two.z, two.w));
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
      const Tf32Parts parts =
          tf32_parts(j % 2 == 0 ? of_tile(two.x, two.y) : of_tile(two.z, two.w));
      big_tiles[j][e] = parts.big;
      small_tiles[j][e] = parts.small;
    }
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j)
      multiply_tf32(sums[i][j], small_filters[i], big_tiles[j]);
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j)
      multiply_tf32(sums[i][j], big_filters[i], small_tiles[j]);
  }
#pragma unroll
  for (int i = 0; i < kFilterFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kTileFragments; ++j)
      multiply_tf32(sums[i][j], big_filters[i], big_tiles[j]);
  }
}

}  // namespace halo::convolve
