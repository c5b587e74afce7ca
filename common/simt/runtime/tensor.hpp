// The arithmetic of tensor cores: what one instruction makes of the registers of a warp.
#pragma once

#include <cstdint>

#include "common/simt/runtime/runtime.hpp"

namespace simt {

// What one lane brings to mma.m16n8k8 or m16n8k4 with TF32 inputs, and takes from it.
struct MmaRegisters {
  std::uint32_t a[4];
  std::uint32_t b[2];
  float c[4];
  float d[4];
};

// What one lane brings to ldmatrix and takes from it.
struct LoadedMatrices {
  std::uint32_t row[4];  // nothing if it names none
  std::uint32_t its[4];
};

// D = A B + C of one warp; depth 8 or 4.
void multiply_tf32(unsigned depth, MmaRegisters* const lanes[32]);
void deal_matrices(unsigned matrices, LoadedMatrices* const lanes[32]);

}  // namespace simt
