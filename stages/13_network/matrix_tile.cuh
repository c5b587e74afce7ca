// Step 2 of stage 13: a tile of a matrix in shared memory, and how a block loads it from either layout.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::network {

constexpr int kTile = 64;       // images, and outputs, of a block
constexpr int kTileStep = 32;   // features that are in shared memory at a time
constexpr int kTileSide = 16;   // threads across and down; each has 4 x 4 of the outputs
constexpr int kTilePitch = 65;  // floats from one feature to the next in shared memory

// A tile holds 64 rows (images or filters) of 32 features. Its pitch of 65 lets lanes that hold
// neighbouring features write a column without a bank conflict; with 64 all 32 would conflict in one.
using Tile = float[kTileStep][kTilePitch];  // [feature][row]

// Rows whose features are neighbours in memory, rows [count][features]: a warp reads 32 features of a
// row. What does not exist becomes 0 and adds nothing.
__device__ inline void load_rows(Tile tile, const float* rows, int first_row, int count,
                                 int first_feature, int features) {
  const int lane = threadIdx.x % kWarpSize;
  const int feature = first_feature + lane;
  for (int row = threadIdx.x / kWarpSize; row < kTile; row += kTileSide * kTileSide / kWarpSize) {
    const bool exists = first_row + row < count && feature < features;
    tile[lane][row] = exists ? rows[(first_row + row) * features + feature] : 0.0f;
  }
}

// The same of an array [features][count], whose images are neighbours: a warp reads 32 of them.
__device__ inline void load_columns(Tile tile, const float* columns, int first_row, int count,
                                    int first_feature, int features) {
  const int lane = threadIdx.x % kWarpSize;
  for (int i = threadIdx.x / kWarpSize; i < kTileStep * kTile / kWarpSize;
       i += kTileSide * kTileSide / kWarpSize) {
    const int step = i / (kTile / kWarpSize);
    const int row = i % (kTile / kWarpSize) * kWarpSize + lane;
    const bool exists = first_row + row < count && first_feature + step < features;
    tile[step][row] = exists ? columns[(first_feature + step) * count + first_row + row] : 0.0f;
  }
}

}  // namespace halo::network
