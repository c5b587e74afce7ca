// Factors in two parts, as tensor cores multiply them: what a warp does in one step of the sum. For
// 3_split_tf32.cu and split_filters.cu.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

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

// value = big + small, both of TF32, but for the last bit of 24. Tensor cores do not look at the last 13 bits
// of an operand: those of `big` are cut off here, after rounding, so that `small` is what is left; those of
// `small` are left to them. (cvt.rna.tf32.f32 rounds alike, but is five instructions on an H200, since it
// looks for infinities. Here those become NaN, which `small` would make of them anyway.)
struct Parts {
  uint32_t big, small;
};
__device__ __forceinline__ Parts split(float value) {
  const uint32_t big = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
  return {big, __float_as_uint(value - __uint_as_float(big))};
}

// sums[16][8] += filters[16][8] * pixels[8][8], by a warp. Lane 4*g + t has of the filters rows g and g + 8 of
// column t, then the same of column t + 4; of the pixels column g of rows t (`upper`) and t + 4 (`lower`); of
// the sums columns 2*t and 2*t + 1 of row g, then of row g + 8.
__device__ __forceinline__ void multiply(float (&sums)[4], const float4& filters, uint32_t upper,
                                         uint32_t lower) {
  // GPUs before have no TF32, nor the shared memory of a block: they are compiled for and never get here.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(__float_as_uint(filters.x)), "r"(__float_as_uint(filters.y)),
        "r"(__float_as_uint(filters.z)), "r"(__float_as_uint(filters.w)), "r"(upper), "r"(lower));
#endif
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
  const Parts upper[] = {split(of.upper.x), split(of.upper.y), split(of.upper.z),
                         split(of.upper.w)};
  const Parts lower[] = {split(of.lower.x), split(of.lower.y), split(of.lower.z),
                         split(of.lower.w)};
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
