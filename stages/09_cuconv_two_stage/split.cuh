// Factors in two parts, as tensor cores multiply them: what a warp does in one step of the sum. For
// 5_split_tf32.cu and split_filters.cu.
#pragma once

#include "common/harness/tf32.h"
#include "common/planning/split_tf32.hpp"

namespace halo::cuconv_two_stage {

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

// What a warp multiplies in one step of the sum: both parts of its filters, its pixels not yet split.
struct Operands {
  float4 big[kFragments], small[kFragments];
  float4 upper, lower;  // of rows t and t + 4: four neighbours, one for each fragment of pixels
};

// The small products first, so that they meet no large sum before they met each other. Each of the three goes
// through all 16 sums before the next: an instruction that waits for the one before takes five times as long.
__device__ __forceinline__ void multiply(float (&sums)[kFragments][kFragments][4],
                                         const Operands& of) {
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

}  // namespace halo::cuconv_two_stage
