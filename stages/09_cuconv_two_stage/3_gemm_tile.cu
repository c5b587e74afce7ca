// Stage 09, step 3: implicit GEMM.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 2 sum: one kernel, no temporaries. The layer is a product of two matrices, filters [K][R*S*C] and
//            cells [R*S*C][N*P*Q]; the second one is never stored: a block computes where the cells of its tile
//            are. A small layer has few tiles of 32 x 32 outputs, so the reduction is divided too: over the warps
//            of a block, each with sums of the whole tile, and over a cluster (distributed shared memory).
// Must cost  each filter once for each 32 columns, each cell R*S times for each 32 filters, each output once. 832
//            channels of 7 x 7 and 256 filters of 1 x 1: 2 * 0.85 MB + 8 * 0.16 MB + 0.05 MB, the loads from the
//            L2 cache. Steps 1 and 2 ask for 42 MB there.
// Run        ./halo run 09 --variant gemm_tile
#include <cooperative_groups.h>

#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"
#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

// Preconditions: filters packed; gridDim = (tiles of filters * tiles of columns, 1, blocks of a cluster), clusters along
// z; blockDim.x = kGemmThreads.
__global__ void __launch_bounds__(kGemmThreads)
    gemm_tile_kernel(const float* input,   // [N][C][H][W]
                     const float* packed,  // [R * S][channels][row]
                     float* output,        // [N][K][P][Q]
                     const LayerNumbers layer) {
  __shared__ float4 on_chip[kWarps][kRing][kPieceQuads];
  const auto cluster = cooperative_groups::this_cluster();
  const int split = gridDim.z, rank = blockIdx.z;
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int groups = (layer.K - 1) / kTile + 1, first_filter = blockIdx.x % groups * kTile;
  const int channels = (layer.C + 15) / 16 * 16, row = (layer.K + 63) / 64 * 64;

  // A lane copies the cells of one column, an output's: where its tap (0, 0) is.
  const int map = layer.P * layer.Q, first_column = blockIdx.x / groups * kTile;
  const int m = first_column + lane, n = m / map;
  const int top = m % map / layer.Q * layer.stride_h - layer.padding_h;
  const int left = m % layer.Q * layer.stride_w - layer.padding_w;
  const int pieces_of_tap = (layer.C - 1) / kPieceRows + 1;
  const int pieces = layer.R * layer.S * pieces_of_tap;

  const auto copy = [&](int piece, float4* to) {  // [kPieceRows][kTile] filters, then cells
    if (piece < pieces) {
      const int tap = piece / pieces_of_tap, c = piece % pieces_of_tap * kPieceRows;
      const int h = top + tap / layer.S, w = left + tap % layer.S;
      const float* const filters =
          packed + (tap * channels + c + lane / 8) * row + first_filter + lane % 8 * 4;
      __pipeline_memcpy_async(to + lane, filters, sizeof(float4));
      __pipeline_memcpy_async(to + kWarpSize + lane, filters + 4 * row, sizeof(float4));
      float* const cells = reinterpret_cast<float*>(to + kPieceQuads / 2) + lane;
      const float* const from = input + ((n * layer.C + c) * layer.H + h) * layer.W + w;
      const bool exists = n < layer.N && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      const int plane = layer.H * layer.W, rows = exists ? layer.C - c : 0;  // others are zeros
#pragma unroll
      for (int i = 0; i < kPieceRows; ++i) {
        const float* const cell = i < rows ? from + i * plane : input;
        copy_or_zero_async<4>(cells + i * kTile, cell, i < rows);
      }
    }
    __pipeline_commit();
  };

  // Warps need nothing of each other: they wait for their own lanes only. These are arranged as in stage
  // 08's outer product, 4 x 8, each with two quads of filters, 4 quads apart, and a quad of columns.
  const int own_filter = lane / 2 % 2 + lane / 16 * 2, own_column = lane % 2 + lane / 4 % 4 * 2;
  const int first = rank * kWarps + warp, parts = split * kWarps;
  float sums[8][4] = {};
  for (int i = 0; i < kRing - 1; ++i) copy(first + i * parts, on_chip[warp][i]);
  for (int piece = first, use = 0; piece < pieces; piece += parts, use = (use + 1) % kRing) {
    __pipeline_wait_prior(kRing - 2);
    __syncwarp();
    copy(piece + (kRing - 1) * parts, on_chip[warp][(use + kRing - 1) % kRing]);
    const float4* const here = on_chip[warp][use];
#pragma unroll
    for (int i = 0; i < kPieceRows; ++i) {
      const float4 a[2] = {here[i * 8 + own_filter], here[i * 8 + own_filter + 4]};
      const float4 b = here[kPieceQuads / 2 + i * 8 + own_column];
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        sums[j / 4][j % 4] +=
            reinterpret_cast<const float*>(a)[j / 4] * reinterpret_cast<const float*>(&b)[j % 4];
      }
    }
  }

  // The sums of the warps, then those of the blocks, of which each adds up and stores a share of the tile.
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    float4* const row_of_tile = on_chip[warp][0] + (own_filter * 4 + i / 4 * 16 + i % 4) * 8;
    row_of_tile[own_column] = *reinterpret_cast<const float4*>(sums[i]);
  }
  __syncthreads();
  float* const tile = &on_chip[0][0][0].x;  // [kTile][kTile], of each warp
#pragma unroll
  for (int i = 0; i < kTile * kTile; i += kGemmThreads) {
    float* const sum = tile + i + threadIdx.x;
    for (int other = 1; other < kWarps; ++other) *sum += sum[other * kWarpFloats];
  }
  // [doc:gemm-sums]
  cluster.sync();
  const int share = kTile * kTile / split;
  for (int i = rank * share + threadIdx.x; i < (rank + 1) * share; i += kGemmThreads) {
    float sum = 0.0f;
    for (int block = 0; block < split; ++block) sum += cluster.map_shared_rank(tile, block)[i];
    const int k = first_filter + i / kTile, column = first_column + i % kTile;
    if (k >= layer.K || column >= layer.N * map) continue;
    output[(column / map * layer.K + k) * map + column % map] = sum;
  }
  cluster.sync();  // nobody's shared memory goes while others read it
  // [/doc:gemm-sums]
}

static int launch(const LayerCall& call) {
  const LayerNumbers& layer = call.layer;
  const dim3 cluster(1, 1, gemm_split(layer)), grid(gemm_tiles(layer), 1, cluster.z);
  return launch_clusters(cluster, false, gemm_tile_kernel, grid, dim3(kGemmThreads), 0,
                         static_cast<cudaStream_t>(call.stream), call.input, call.packed,
                         call.output, layer);
}

LayerKernel gemm_tile() {
  return {.description = "implicit GEMM, the reduction over warps and a cluster's blocks",
          .launch = launch,
          .packed_floats = convolve::packed_floats,
          .pack = convolve::pack_filters,
          .tuned = true,
          .tiles = {{.C = kPieceRows, .K = kTile, .cells = kTile}},
          .multiplies_ghosts = true};
}

}  // namespace halo::cuconv_two_stage
