// What the kernels of stage 09's steps 3 and 4 and their costs must agree on.
#pragma once

#include "common/convolve/packed_filters.hpp"
#include "common/harness/kernel.h"

namespace halo::cuconv_two_stage {

// Step 3: a tile of 32 x 32 outputs; a piece of the reduction, which is 8 channels of one tap; the warps of a block; the
// pieces of a warp in shared memory, one in use and the others on their way, in float4 and in floats.
inline constexpr int kTile = 32, kPieceRows = 8, kWarps = 8, kGemmThreads = kWarps * kWarpSize;
inline constexpr int kRing = 3, kPieceQuads = kPieceRows * 2 * kTile / 4;
inline constexpr int kWarpFloats = kRing * kPieceQuads * 4;

inline int gemm_tiles(const LayerNumbers& layer) {
  const int columns = layer.N * layer.P * layer.Q;
  return ((layer.K - 1) / kTile + 1) * ((columns - 1) / kTile + 1);
}

// Blocks of a cluster: more as long as there are few blocks, and two pieces for each warp.
inline int gemm_split(const LayerNumbers& layer) {
  const int pieces = layer.R * layer.S * ((layer.C - 1) / kPieceRows + 1);
  int split = 1;
  while (split < 8 && gemm_tiles(layer) * split < 128 && pieces >= 4 * split * kWarps) split *= 2;
  return split;
}

}  // namespace halo::cuconv_two_stage
