// Stage 09, step 7: a factor in two parts, and the instruction that multiplies them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

// value = big + small, but for the last bit of 24. Tensor cores ignore the last 13 bits of an operand.
__device__ inline void split(float value, std::uint32_t& big, std::uint32_t& small) {
  big = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;  // rounded
  small = __float_as_uint(value - __uint_as_float(big));
}

// sums[16][8] += a[16][8] * b[8][8]. Lane 4 * g + t has rows g and g + 8 of column t of a, then of column t + 4; column g
// of rows t and t + 4 of b; columns 2 * t and 2 * t + 1 of row g of the sums, then of row g + 8.
__device__ inline void multiply(float (&sums)[4], const std::uint32_t (&a)[4],
                                const std::uint32_t (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // others have no TF32, and never get here
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

}  // namespace halo::cuconv_two_stage
