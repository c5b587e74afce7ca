// Tensor cores with TF32: a factor in two parts, and the instruction that multiplies them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace halo {

// value = big + small, both of TF32, but for the last bit of 24. Tensor cores do not look at the last 13 bits
// of an operand: those of `big` are cut off here, after rounding, so that `small` is what is left; those of
// `small` are left to them. (cvt.rna.tf32.f32 rounds alike, but is five instructions on an H200, since it
// looks for infinities. Here those become NaN, which `small` would make of them anyway.)
struct Tf32Parts {
  std::uint32_t big, small;
};
__device__ __forceinline__ Tf32Parts tf32_parts(float value) {
  const std::uint32_t big = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
  return {big, __float_as_uint(value - __uint_as_float(big))};
}

// sums[16][8] += a[16][8] * b[8][8], by a warp. Lane 4 * g + t has of a rows g and g + 8 of column t, then of column
// t + 4; of b column g of rows t and t + 4; of the sums columns 2 * t and 2 * t + 1 of row g, then of row g + 8.
__device__ __forceinline__ void multiply_tf32(float (&sums)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]) {
  // GPUs before have no TF32: they are compiled for and never get here.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

}  // namespace halo
