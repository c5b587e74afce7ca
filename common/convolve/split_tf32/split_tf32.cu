// A layer through tensor cores, with float's accuracy.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        the layer is a product of matrices, filters [K] times outputs [N*P*Q], whose sum goes over the taps
//            (r, s) and within each over the channels. Tensor cores multiply, which keep 10 bits of a factor after
//            the point (TF32): so each factor is split, big + small, and of the four products three are added:
//            big*big, big*small, small*big. Filters are split once, when they are packed, in the order of the lanes.
// Must cost  the input once for each group of 64 or 128 filters, and for each tap; the filters, twice as many
//            bytes as they were, once for each 128 outputs; each output written once, in whole rows. Three
//            products where one would do: a third of what tensor cores give in TF32.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/split_tf32/fragments.cuh"
#include "common/convolve/split_tf32/pieces.cuh"
#include "common/harness/kernel.h"

namespace halo::convolve {

constexpr int kSteps = kStagePieces * kDepthsOfPiece;
constexpr int kStagesOfSum = 2;  // 64 products: then the sums move on

// Preconditions: a plan of plan.hpp; gridDim.x = groups of kFilters * tiles of kTilePixels; blockDim.x = 2 * kFilters;
// split_shared_bytes(kFilters) bytes of dynamic shared memory.
// Two blocks per SM with 64 filters, one with 128: no thread then has to keep sums in memory.
template <int kFilters, int kAtOnce>
__global__ void __launch_bounds__(2 * kFilters, 128 / kFilters)
    split_tf32_kernel(const float* input,   // [N][C][H][W]
                      const float* packed,  // as split_filters_kernel leaves it
                      float* output,        // [N][K][P][Q]
                      const LayerNumbers layer) {
  using Own = OwnPixels<kFilters, kAtOnce>;
  using Copies = PieceCopies<kFilters, kAtOnce>;
  extern __shared__ float4
      on_chip[];  // [kStages * kStagePieces][kPieceFloats], then [kFilters][kOutputRow]
  float* const shared = reinterpret_cast<float*>(on_chip);
  const int lane = threadIdx.x % kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = threadIdx.x / kWarpSize;
  const int warp_filter = warp / 4 * kWarpFilters, warp_pixel = warp % 4 * kWarpPixels;

  // Blocks with the same pixels and other filters are neighbours: the second finds the pixels in the L2 cache.
  const int groups = (layer.K - 1) / kFilters + 1;
  const int group = blockIdx.x % groups;
  const Own own(layer, blockIdx.x / groups);
  Copies copies(input, packed, layer, own, group);
  const auto operands_of = [&](int stage, int step) {
    const float* const piece =
        shared + (stage * kStagePieces + step / kDepthsOfPiece) * Copies::kPieceFloats;
    const float* const fragments = piece + warp_filter * 2 * kPieceChannels +
                                   step % kDepthsOfPiece * 2 * kFragmentFloats + lane * 4;
    const float* const pixels = piece + Copies::kPieceFilters +
                                (step % kDepthsOfPiece * kDepth + t) * kPixelRow + warp_pixel +
                                4 * g;
    Operands all;
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
      const float* const fragment = fragments + i * kFragmentFilters * 2 * kPieceChannels;
      all.big[i] = *reinterpret_cast<const float4*>(fragment);
      all.small[i] = *reinterpret_cast<const float4*>(fragment + kFragmentFloats);
    }
    all.upper = *reinterpret_cast<const float4*>(pixels);
    all.lower = *reinterpret_cast<const float4*>(pixels + 4 * kPixelRow);
    return all;
  };

  // Tensor cores truncate sums instead of rounding them, always towards zero: over thousands of products of one
  // sign that adds up (on an H200, in 4608 of them, to 14 times the error of a chain of fma). So every 64 products
  // the sums move on into others, by additions that round: then it is a quarter of that chain's, and 2 % slower.
  SplitSums sums = {}, recent = {};
  for (int i = 0; i < kStages - 1; ++i) copies.copy_stage(shared, i);
  __pipeline_wait_prior(kStages - 2);
  __syncthreads();
  Operands now = operands_of(0, 0);
  for (int done = 0, stage = 0; done < copies.stages; ++done) {
    copies.copy_stage(shared, (stage + kStages - 1) % kStages);  // where the stage before was
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps - 1) {
        // The next stage is here. Of this one the last operands are in registers: nobody reads it any more.
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();
        stage = (stage + 1) % kStages;
      }
      const Operands following = operands_of(stage, (step + 1) % kSteps);
      multiply(recent, now);
      now = following;
    }
    if (done % kStagesOfSum == kStagesOfSum - 1) move_on(recent, sums);
  }
  move_on(recent, sums);
  __pipeline_wait_prior(0);
  __syncthreads();

  // A warp's sums are pieces of 16 bytes of many filters' outputs. Through shared memory they become rows: stored
  // as they are, each request would write 4 bytes of each of 32 sectors where a map has no whole quads.
  put_sums(sums, shared, warp_filter, warp_pixel, g, t);
  __syncthreads();
  if (!own.exists) return;
  const int map = layer.P * layer.Q;
  float* const to = output + (own.n * layer.K * map + own.in_map);
#pragma unroll 8
  for (int row = own.row; row < kFilters; row += Own::kRows) {
    const int k = group * kFilters + row;
    if (k >= layer.K) return;
    const float* const from = shared + row * kOutputRow + own.pixel;
    if constexpr (kAtOnce == 4) {
      *reinterpret_cast<float4*>(to + k * map) = *reinterpret_cast<const float4*>(from);
    } else {
      to[k * map] = *from;
    }
  }
}

int split_tf32(const LayerCall& call, const SplitTile& tile) {
  const LayerNumbers& layer = call.layer;
  const auto kernel = dispatch<64, 128>(tile.filters, [&](auto filters) {
    return dispatch<1, 4>(tile.at_once, [](auto at_once) {
      return split_tf32_kernel<decltype(filters)::value, decltype(at_once)::value>;
    });
  });
  const int bytes = split_shared_bytes(tile.filters);
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const int tiles = (layer.N * layer.P * layer.Q - 1) / kTilePixels + 1;
  const int groups = (layer.K - 1) / tile.filters + 1;
  kernel<<<tiles * groups, 2 * tile.filters, bytes, static_cast<cudaStream_t>(call.stream)>>>(
      call.input, call.packed, call.output, layer);
  return cudaGetLastError();
}

}  // namespace halo::convolve
