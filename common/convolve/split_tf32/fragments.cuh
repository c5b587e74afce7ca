// What a warp of split_tf32.cu multiplies in one step of the sum, 8 channels, and how.
//
//   A warp's share of a tile is 64 filters by 32 outputs, 4 x 4 fragments of 16 x 8, one instruction each.
//   Lane 4 * g + t has of them (multiply_tf32 in tf32.h)
//
//     filters of fragment i    rows g and g + 8 of columns t and t + 4, both parts of each, as they were packed
//     pixels of fragment j     pixel 4 * g + j of channels t and t + 4: so the four fragments' are one quad
//     sums of fragment i, j    of rows g and g + 8 columns 2 * t and 2 * t + 1: of all j eight neighbouring pixels
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/split_tf32/tile.hpp"
#include "common/harness/kernel.h"
#include "common/harness/tf32.h"

namespace halo::convolve {

// What one instruction takes: 16 filters, 8 products of each sum.
constexpr int kFragmentFilters = 16;
constexpr int kDepth = 8;
constexpr int kFragmentFloats = kFragmentFilters * kDepth;
constexpr int kDepthsOfPiece = kPieceChannels / kDepth;

// A warp's share of a tile: 64 filters in four fragments, 32 outputs in four of 8.
constexpr int kFragments = 4;
constexpr int kWarpFilters = kFragmentFilters * kFragments;
constexpr int kWarpPixels = 8 * kFragments;

__device__ __forceinline__ void multiply(float (&sums)[4], const float4& filters, uint32_t upper,
                                         uint32_t lower) {
  const uint32_t of_filters[] = {__float_as_uint(filters.x), __float_as_uint(filters.y),
                                 __float_as_uint(filters.z), __float_as_uint(filters.w)};
  const uint32_t of_pixels[] = {upper, lower};
  multiply_tf32(sums, of_filters, of_pixels);
}

using SplitSums = float[kFragments][kFragments][4];

// What a warp multiplies in one step of the sum: both parts of its filters, its pixels not yet split.
struct Operands {
  float4 big[kFragments], small[kFragments];
  float4 upper, lower;  // of rows t and t + 4: four neighbours, one for each fragment of pixels
};

// The small products first, so that they meet no large sum before they met each other. Each of the three goes
// through all 16 sums before the next: an instruction that waits for the one before takes five times as long.
__device__ __forceinline__ void multiply(SplitSums& sums, const Operands& of) {
  const Tf32Parts upper[] = {tf32_parts(of.upper.x), tf32_parts(of.upper.y), tf32_parts(of.upper.z),
                             tf32_parts(of.upper.w)};
  const Tf32Parts lower[] = {tf32_parts(of.lower.x), tf32_parts(of.lower.y), tf32_parts(of.lower.z),
                             tf32_parts(of.lower.w)};
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.small[i], upper[j].big, lower[j].big);
  }
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.big[i], upper[j].small, lower[j].small);
  }
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.big[i], upper[j].big, lower[j].big);
  }
}

// Adds what was summed of late to the sums, and begins anew.
__device__ inline void move_on(SplitSums& recent, SplitSums& sums) {
#pragma unroll
  for (int i = 0; i < kFragments * kFragments * 4; ++i) {
    sums[i / 16][i / 4 % 4][i % 4] += recent[i / 16][i / 4 % 4][i % 4];
    recent[i / 16][i / 4 % 4][i % 4] = 0.0f;
  }
}

__device__ inline void put_sums(const SplitSums& sums,
                                float* rows,  // [kFilters][kOutputRow]
                                int warp_filter, int warp_pixel, int g, int t) {
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float* const to =
          rows + (warp_filter + 16 * i + e / 2 * 8 + g) * kOutputRow + warp_pixel + 8 * t;
      *reinterpret_cast<float4*>(to + e % 2 * 4) =
          make_float4(sums[i][0][e], sums[i][1][e], sums[i][2][e], sums[i][3][e]);
    }
  }
}

}  // namespace halo::convolve
