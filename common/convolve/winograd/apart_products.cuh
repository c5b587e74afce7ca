// The products of winograd_apart.cu: for each frequency two matrices, in blocks of register tiles.
#pragma once

#include <cuda_pipeline.h>

#include "common/convolve/winograd/apart_chunks.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// For each frequency and each group of the layer the matrix [K][C] times [C][tiles], K and C a group's, C the channels
// of all phases. Preconditions: blockDim.x = the block's threads; gridDim.x = pieces of filters * pieces of tiles,
// gridDim.y = frequencies * groups; both pitches multiples of 4, so that no piece of 16 bytes is half in one row.
template <int kBlock>
__global__ void __launch_bounds__(kApartBlocks[kBlock].threads(), kApartBlocks[kBlock].resident())
    products_kernel(const float* packed,       // [frequencies][groups][C][filter_pitch]
                    const float* transformed,  // [frequencies][groups][C][tile_pitch]
                    float* sums,               // [frequencies][groups][K][tile_pitch]
                    int C, int K, ApartDivision division, Divisor pieces) {  // of filters
  using B = ApartProducts<kBlock>;
  extern __shared__ float4 on_chip[];
  float* const weights = reinterpret_cast<float*>(on_chip);       // [2][kChannels][kFilters]
  float* const tiles = weights + 2 * B::kChannels * B::kFilters;  // [2][kChannels][kTiles]

  // Blocks with the same tiles are neighbours: what one reads of them the others find in the L2 cache.
  const int piece_of_tiles = static_cast<int>(blockIdx.x) / pieces;
  const int first_filter = (blockIdx.x - piece_of_tiles * pieces.value) * B::kFilters;
  const int first_tile = piece_of_tiles * B::kTiles;
  const float* const a = packed + static_cast<long long>(blockIdx.y) * C * division.filter_pitch;
  const float* const b = transformed + static_cast<long long>(blockIdx.y) * C * division.tile_pitch;
  const int thread = threadIdx.x, lane = thread % kWarpSize, warp = thread / kWarpSize;

  ChunkCopies<B::kFilters, B::kThreads> filters_in(a, division.filter_pitch, C, first_filter,
                                                   thread);
  ChunkCopies<B::kTiles, B::kThreads> tiles_in(b, division.tile_pitch, C, first_tile, thread);

  const int many = lane % 2 + lane / 4 % 4 * 2, few = lane / 2 % 2 + lane / 16 * 2;
  const int own_filter =
      warp / B::kAcross * (B::kRows / 4 * B::kFilterRun) + 4 * (B::kManyTiles ? few : many);
  const int own_tile =
      warp % B::kAcross * (B::kColumns / 4 * B::kTileRun) + 4 * (B::kManyTiles ? many : few);

  float own[B::kRows][B::kColumns] = {};
  const int chunks = (C - 1) / B::kChannels + 1;
  // The first filters depend on no launch: they are under way while the inputs are still transformed.
  filters_in.copy_next(weights, thread);
  let_next_launch_begin();  // many small blocks do the adding: they find room anywhere
  wait_for_launches_before();
  tiles_in.copy_next(tiles, thread);
  __pipeline_commit();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the chunk is there, and nobody reads the one before any more
    if (chunk + 1 < chunks) {
      filters_in.copy_next(weights + (chunk + 1) % 2 * B::kChannels * B::kFilters, thread);
      tiles_in.copy_next(tiles + (chunk + 1) % 2 * B::kChannels * B::kTiles, thread);
    }
    __pipeline_commit();
    const float* const from_weights = weights + chunk % 2 * B::kChannels * B::kFilters + own_filter;
    const float* const from_tiles = tiles + chunk % 2 * B::kChannels * B::kTiles + own_tile;
    multiply_chunk<B>(from_weights, from_tiles, own);
  }

  float* const to = sums + static_cast<long long>(blockIdx.y) * K * division.tile_pitch;
#pragma unroll
  for (int i = 0; i < B::kRows; ++i) {
    const int k = first_filter + own_filter + i % 4 + i / 4 * B::kFilterRun;
#pragma unroll
    for (int j = 0; j < B::kColumns; j += 4) {
      const int t = first_tile + own_tile + j / 4 * B::kTileRun;
      if (k < K && t < division.tile_pitch) {
        *reinterpret_cast<float4*>(to + k * division.tile_pitch + t) =
            *reinterpret_cast<const float4*>(&own[i][j]);
      }
    }
  }
}

}  // namespace halo::convolve
