// Fourier's transform with its products on tensor cores.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - padding_h + r][q - padding_w + s]; cells that do not exist are zero.
// How        the transforms are fourier.cu's. Of the products there fused multiply-adds are the limit. Tensor cores multiply
//            four times as fast, but look at only 10 bits of a factor after the point (TF32). So each factor is
//            split, big + small, and of the four products three are added: with Gauss's three for four nine
//            instructions do what would be four in TF32.
// Must cost  what fourier.cu costs, but for sums that leave in sectors of their own; blocks of 64 filters or 32, and 64 tiles.
//            Its error is some seven times that of the other, and normwise as there: tensor cores truncate sums.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/convolve/fourier/fragments.cuh"
#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

// For each frequency the complex matrix [K][C], conjugated, times [C][tiles], as complex_products_kernel does it.
// Preconditions: blockDim.x = 2 * kFilters; gridDim.x = groups of filters * groups of kSplitTiles tiles, gridDim.y =
// frequencies; fourier_split_bytes(kFilters) bytes of dynamic shared memory; pitches multiples of kFourierPitch.
template <int kFilters>
__global__ void __launch_bounds__(2 * kFilters, 256 / (2 * kFilters))
    split_products_kernel(const float2* packed,       // [frequencies][C][filter_pitch]
                          const float2* transformed,  // [frequencies][C][tile_pitch]
                          float2* sums,               // [frequencies][K][tile_pitch]
                          int C, int K, FourierDivision division) {
  constexpr int kThreads = 2 * kFilters, kChannels = kFourierChannels, kTiles = kSplitTiles;
  // In float4, two complex numbers.
  constexpr int kFilterRow = kFilters / 2, kFilterPitch = kFilterRow + kSplitFilterMore;
  constexpr int kTileRow = kTiles / 2, kTilePitch = kTileRow + kSplitTileMore;
  extern __shared__ float4 on_chip[];
  float4* const weights = on_chip;  // [kSplitStages][kChannels][kFilterPitch]
  float4* const tiles =             // [kSplitStages][kChannels][kTilePitch]
      on_chip + kSplitStages * kChannels * kFilterPitch;

  const int groups = (K - 1) / kFilters + 1;
  const int first_filter = blockIdx.x % groups * kFilters;
  const int first_tile = blockIdx.x / groups * kTiles;
  const int thread = threadIdx.x, lane = thread % kWarpSize, warp = thread / kWarpSize;
  const int g = lane / 4, t = lane % 4;

  // As in fourier.cu: a thread copies one column of every so-many-th row, from here on.
  constexpr int kFilterStep = kThreads / kFilterRow, kTileStep = kThreads / kTileRow;
  const int filter_row = thread / kFilterRow, filter = first_filter + thread % kFilterRow * 2;
  const int tile_row = thread / kTileRow, tile = first_tile + thread % kTileRow * 2;
  const long long first_row = static_cast<long long>(blockIdx.y) * C;
  const float2* next_filters = packed + (first_row + filter_row) * division.filter_pitch + filter;
  const float2* next_tiles = transformed + (first_row + tile_row) * division.tile_pitch + tile;
  int filter_rows = filter < division.filter_pitch ? C - filter_row : 0;
  int tile_rows = tile < division.tile_pitch ? C - tile_row : 0;
  float4* const to_filters = weights + filter_row * kFilterPitch + thread % kFilterRow;
  float4* const to_tiles = tiles + tile_row * kTilePitch + thread % kTileRow;
  const auto copy_filters = [&](int stage) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kFilterStep) {
      const bool exists = i < filter_rows;  // else zeros, without a read
      copy_or_zero_async<16>(to_filters + (stage * kChannels + i) * kFilterPitch,
                             exists ? next_filters + i * division.filter_pitch : packed, exists);
    }
    next_filters += kChannels * division.filter_pitch;
    filter_rows -= kChannels;
  };
  const auto copy_tiles = [&](int stage) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kTileStep) {
      const bool exists = i < tile_rows;
      copy_or_zero_async<16>(to_tiles + (stage * kChannels + i) * kTilePitch,
                             exists ? next_tiles + i * division.tile_pitch : transformed, exists);
    }
    next_tiles += kChannels * division.tile_pitch;
    tile_rows -= kChannels;
    __pipeline_commit();
  };

  // Two neighbouring warps have a block's tiles, in runs of 16, as the filters are. Which column of a fragment is which
  // tile does not matter to the product: like this four lanes have eight neighbouring tiles of sums, two whole sectors.
  const int warp_filter = warp / 2 * kWarpFilters, warp_tile = warp % 2 * kWarpTiles;
  const int own_filter = warp_filter / 2 + g, own_tile = warp_tile / 2 + g / 2 + g % 2 * 4;
  const float4* const from_filters = weights + t * kFilterPitch + own_filter;
  const float4* const from_tiles = tiles + t * kTilePitch + own_tile;
  const auto operands_of = [&](int stage, int step) {
    const int channel = stage * kChannels + step * kDepth;
    ComplexOperands all;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        all.filters[i][half] = from_filters[(channel + half * 4) * kFilterPitch + i * 8];
        all.tiles[i][half] = from_tiles[(channel + half * 4) * kTilePitch + i * 8];
      }
    }
    return all;
  };

  // As in fourier.cu: a + b and c - a + b. (Four real products need two arrays of sums, and a third more instructions:
  // slower. To move sums on into others every 32 channels, as split_tf32.cu does every 64 products, took
  // a quarter of the speed: too many registers.)
  FragmentSums a = {}, b = {}, c = {};
  const int chunks = (C - 1) / kChannels + 1;
  // Chunks after the last are zeros: the operands that are read ahead are not used.
  // The first filters depend on no launch: they are under way while the inputs are still transformed.
  copy_filters(0);
  wait_for_launches_before();
  copy_tiles(0);
  for (int i = 1; i < kSplitStages - 1; ++i) copy_filters(i), copy_tiles(i);
  __pipeline_wait_prior(kSplitStages - 2);
  __syncthreads();
  ComplexOperands now = operands_of(0, 0);
  for (int chunk = 0, stage = 0; chunk < chunks; ++chunk) {
    const int fill = (stage + kSplitStages - 1) % kSplitStages;  // where the chunk before was
    copy_filters(fill), copy_tiles(fill);
#pragma unroll
    for (int step = 0; step < kChannels / kDepth; ++step) {
      if (step == kChannels / kDepth - 1) {
        // The next chunk is here. Of this one the last operands are in registers: nobody reads it any more.
        __pipeline_wait_prior(kSplitStages - 2);
        __syncthreads();
        stage = (stage + 1) % kSplitStages;
      }
      const ComplexOperands following = operands_of(stage, (step + 1) % (kChannels / kDepth));
      const auto real = [](float x, float) { return x; };
      const auto imaginary = [](float, float y) { return y; };
      multiply(a, now, real, real);
      multiply(b, now, imaginary, imaginary);
      multiply(
          c, now, [](float x, float y) { return x - y; }, [](float x, float y) { return x + y; });
      now = following;
    }
  }

  float2* const to = sums + static_cast<long long>(blockIdx.y) * K * division.tile_pitch;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int run = i / 4, second = i / 2 % 2, half = i % 2;  // of filters; which of two; of tiles
    const int k = first_filter + warp_filter + run * 16 + 2 * g + second;
    if (k >= K) continue;
#pragma unroll
    for (int j = 0; j < kTileFragments; j += 2) {
      const int at = first_tile + warp_tile + j * 8 + 2 * (t + 4 * half);
      if (at >= division.tile_pitch) continue;
      const int e = 2 * second + half;
      const float2 of_a = {a[run][j][e], a[run][j + 1][e]};
      const float2 of_b = {b[run][j][e], b[run][j + 1][e]};
      const float2 of_c = {c[run][j][e], c[run][j + 1][e]};
      *reinterpret_cast<float4*>(to + k * division.tile_pitch + at) = {
          of_a.x + of_b.x, of_c.x - of_a.x + of_b.x, of_a.y + of_b.y, of_c.y - of_a.y + of_b.y};
    }
  }
}

int fourier_split(const LayerCall& call, const FourierDivision& division) {
  return by_fourier(
      call, division,
      [](const float2* packed, const float2* transformed, float2* sums, const LayerNumbers& layer,
         const FourierDivision& by, cudaStream_t stream) {
        const auto kernel = dispatch<32, 64>(
            by.side, [](auto filters) { return split_products_kernel<filters.value>; });
        const int bytes = fourier_split_bytes(by.side);
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (status != cudaSuccess) return static_cast<int>(status);
        const int blocks = ((layer.K - 1) / by.side + 1) * ((by.tile_pitch - 1) / kSplitTiles + 1);
        return static_cast<int>(launch_overlapping(
            true, kernel, dim3(blocks, fourier_frequencies(by.size)), 2 * by.side, bytes, stream,
            packed, transformed, sums, layer.C, layer.K, by));
      });
}

}  // namespace halo::convolve
