// The products of fourier.cu: for each frequency two complex matrices, in blocks of register tiles.
#pragma once

#include <cuda_pipeline.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

// For each frequency the complex matrix [K][C], conjugated, times [C][tiles], by Gauss's three products for four:
//   (f.x - i f.y)(x.x + i x.y) = (a + b) + i (c - a + b),  a = f.x x.x,  b = f.y x.y,  c = (f.x - f.y)(x.x + x.y)
// The sums f.x - f.y and x.x + x.y are formed once for 4 or 8 products; a, b and c are summed separately.
// Preconditions: blockDim.x = FourierBlock<kSide>::kThreads; gridDim.x = groups of filters * groups of tiles,
// gridDim.y = frequencies; both pitches multiples of kFourierPitch, so that no piece of 16 bytes is half in one row.
template <int kSide>
__global__ void __launch_bounds__(FourierBlock<kSide>::kThreads, FourierBlock<kSide>::kResident)
    complex_products_kernel(const float2* packed,       // [frequencies][C][filter_pitch]
                            const float2* transformed,  // [frequencies][C][tile_pitch]
                            float2* sums,               // [frequencies][K][tile_pitch]
                            int C, int K, FourierDivision division) {
  using Block = FourierBlock<kSide>;
  constexpr int kChannels = kFourierChannels, kOwn = Block::kOwn, kRow = Block::kRow;
  __shared__ float4 weights[2 * kChannels * kRow];  // [2][kChannels][kRow]
  __shared__ float4 tiles[2 * kChannels * kRow];    // [2][kChannels][kRow]

  const int groups = (K - 1) / kSide + 1;
  const int first_filter = blockIdx.x % groups * kSide;
  const int first_tile = blockIdx.x / groups * kSide;
  const int thread = threadIdx.x, lane = thread % kWarpSize, warp = thread / kWarpSize;

  // A thread copies one column of every kStep-th row, from here on. Where its column does not exist it has no
  // channels, and of rows that do not exist the zeros come without a read. (Computing each
  // address again cost a tenth of the kernel's time.)
  constexpr int kStep = Block::kThreads / kRow;
  const int row = thread / kRow, filter = first_filter + thread % kRow * 2;
  const int tile = first_tile + thread % kRow * 2;
  const long long first_row = static_cast<long long>(blockIdx.y) * C + row;
  const float2* next_filters = packed + first_row * division.filter_pitch + filter;
  const float2* next_tiles = transformed + first_row * division.tile_pitch + tile;
  int filter_rows = filter < division.filter_pitch ? C - row : 0;
  int tile_rows = tile < division.tile_pitch ? C - row : 0;
  const auto copy_filters = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kStep) {
      const bool exists = i < filter_rows;
      copy_or_zero_async<16>(weights + (buffer * kChannels + i) * kRow + thread,
                             exists ? next_filters + i * division.filter_pitch : packed, exists);
    }
    next_filters += kChannels * division.filter_pitch;
    filter_rows -= kChannels;
  };
  const auto copy_tiles = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kStep) {
      const bool exists = i < tile_rows;
      copy_or_zero_async<16>(tiles + (buffer * kChannels + i) * kRow + thread,
                             exists ? next_tiles + i * division.tile_pitch : transformed, exists);
    }
    next_tiles += kChannels * division.tile_pitch;
    tile_rows -= kChannels;
  };

  // Of a warp's lanes 4 have filters and 8 have tiles beside each other, each 8 and kOwn of them in runs of two. Of
  // eight neighbouring lanes only four (two) read different tiles (filters), as in winograd.cu.
  const int many = lane % 2 + lane / 4 % 4 * 2, few = lane / 2 % 2 + lane / 16 * 2;
  constexpr int kFilterRun = 4, kTileRun = 8;  // float4 from a lane's run to its next
  const int own_filter = warp * 4 * kFilterRun + few;

  float a[8][kOwn] = {}, b[8][kOwn] = {}, c[8][kOwn] = {};
  const int chunks = (C - 1) / kChannels + 1;
  // The first filters depend on no launch: they are under way while the inputs are still transformed.
  copy_filters(0);
  wait_for_launches_before();
  copy_tiles(0);
  __pipeline_commit();
  int buffer = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the chunk is there, and nobody reads the one before any more
    if (chunk + 1 < chunks) {
      copy_filters(1 - buffer);
      copy_tiles(1 - buffer);
    }
    __pipeline_commit();
    const float4* const from_filters = weights + buffer * kChannels * kRow + own_filter;
    const float4* const from_tiles = tiles + buffer * kChannels * kRow + many;
    // A few channels per turn: the code of all of them would not fit the instruction cache.
#pragma unroll 1
    for (int first = 0; first < kChannels; first += Block::kTurn) {
#pragma unroll
      for (int channel = 0; channel < Block::kTurn; ++channel) {
        const int from = (first + channel) * kRow;
        float4 filter[4], tile[kOwn / 2];
#pragma unroll
        for (int i = 0; i < 4; ++i) filter[i] = from_filters[from + i * kFilterRun];
#pragma unroll
        for (int j = 0; j < kOwn / 2; ++j) tile[j] = from_tiles[from + j * kTileRun];
        float real[kOwn], imaginary[kOwn], sum[kOwn];
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
          real[j] = j % 2 == 0 ? tile[j / 2].x : tile[j / 2].z;
          imaginary[j] = j % 2 == 0 ? tile[j / 2].y : tile[j / 2].w;
          sum[j] = real[j] + imaginary[j];
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float4 two = filter[i / 2];
          const float2 f = i % 2 == 0 ? float2{two.x, two.y} : float2{two.z, two.w};
          const float difference = f.x - f.y;
#pragma unroll
          for (int j = 0; j < kOwn; ++j) {
            a[i][j] += f.x * real[j];
            b[i][j] += f.y * imaginary[j];
            c[i][j] += difference * sum[j];
          }
        }
      }
    }
    buffer = 1 - buffer;
  }

  float2* const to = sums + static_cast<long long>(blockIdx.y) * K * division.tile_pitch;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = first_filter + 2 * (own_filter + i / 2 * kFilterRun) + i % 2;
#pragma unroll
    for (int j = 0; j < kOwn; j += 2) {
      const int t = first_tile + 2 * (many + j / 2 * kTileRun);
      if (k < K && t < division.tile_pitch) {
        *reinterpret_cast<float4*>(to + k * division.tile_pitch + t) = {
            a[i][j] + b[i][j], c[i][j] - a[i][j] + b[i][j], a[i][j + 1] + b[i][j + 1],
            c[i][j + 1] - a[i][j + 1] + b[i][j + 1]};
      }
    }
  }
}

}  // namespace halo::convolve
