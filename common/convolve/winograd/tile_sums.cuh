// The sums of winograd.cu: how a lane makes them, how those of all frequencies meet on chip and are transformed,
// and how those of all parts of the channels are added up.
//
//   sums        [kFrequencies][kPitch]: in a row the pairs, filter * kTiles + tile, swizzled
//   of parts    [parts][filters][kOutputs][kTiles * kOutputs]: rows of outputs, of neighbouring tiles beside each other
#pragma once

#include "common/convolve/winograd/winograd.cuh"

namespace halo::convolve {

// Adds a chunk's products to a lane's sums, of W::kOwn frequencies.
template <class W>
__device__ inline void multiply_frequencies(
    const float* a,  // [kOwn][kChannels][kFilters]: the lane's first
    const float* b,  // [kOwn][kChannels][kTiles], likewise
    float (&sums)[W::kOwn][W::kRows][W::kColumns]) {
#pragma unroll 2
  for (int c = 0; c < W::kChannels; ++c) {
#pragma unroll
    for (int f = 0; f < W::kOwn; ++f) {
      float filters[W::kRows], tiles[W::kColumns];
#pragma unroll
      for (int i = 0; i < W::kRows; i += 4) {
        *reinterpret_cast<float4*>(filters + i) = *reinterpret_cast<const float4*>(
            a + (f * W::kChannels + c) * W::kFilters + i / 4 * (W::kFilters / 2));
      }
#pragma unroll
      for (int j = 0; j < W::kColumns; j += 4) {
        *reinterpret_cast<float4*>(tiles + j) = *reinterpret_cast<const float4*>(
            b + (f * W::kChannels + c) * W::kTiles + j / 4 * (W::kTiles / 2));
      }
#pragma unroll
      for (int i = 0; i < W::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < W::kColumns; ++j) sums[f][i][j] += filters[i] * tiles[j];
      }
    }
  }
}

// Where a pair's sums are: lanes that store together have filters four apart, which would be bank conflicts. Done
// twice it is undone.
template <class W>
__device__ inline int swizzled(int pair) {
  const int fours = pair / (4 * W::kTiles);
  return pair ^ (fours & 1) << 4 ^ (fours >> 1 & 1) << 3;
}

// A lane's sums to shared memory.
template <class W>
__device__ inline void put_sums(const float (&sums)[W::kOwn][W::kRows][W::kColumns],
                                float* all,  // [kFrequencies][kPitch]
                                int own_frequency, int own_filter, int own_tile) {
#pragma unroll
  for (int f = 0; f < W::kOwn; ++f) {
#pragma unroll
    for (int i = 0; i < W::kRows; ++i) {
      const int filter = own_filter + i % 4 + i / 4 * (W::kFilters / 2);
#pragma unroll
      for (int j = 0; j < W::kColumns; j += 4) {
        const int pair = filter * W::kTiles + own_tile + j / 4 * (W::kTiles / 2);
        *reinterpret_cast<float4*>(all + (own_frequency + f) * W::kPitch + swizzled<W>(pair)) =
            *reinterpret_cast<const float4*>(&sums[f][i][j]);
      }
    }
  }
}

// A^T M A of all sums of the block: calls leave(pair, p, outputs) for each row p of each pair's outputs, where a pair is
// filter * kTiles + tile.
template <class W, class Leave>
__device__ inline void transform_all_sums(int thread, const float* sums, const Leave& leave) {
  for (int place = thread; place < W::kPairs; place += W::kThreads) {
    float half[W::kOutputs][W::kCells];
    alignas(16) float y[W::kOutputs];
#pragma unroll
    for (int w = 0; w < W::kCells; ++w) {
      float column[W::kCells];
#pragma unroll
      for (int h = 0; h < W::kCells; ++h) column[h] = sums[(h * W::kCells + w) * W::kPitch + place];
      transform_sums<W>(column, y);
#pragma unroll
      for (int p = 0; p < W::kOutputs; ++p) half[p][w] = y[p];
    }
#pragma unroll
    for (int p = 0; p < W::kOutputs; ++p) {
      transform_sums<W>(half[p], y);
      leave(swizzled<W>(place), p, y);
    }
  }
}

// Outputs are sums over the parts, in the same order each time, of `filters` filters from first_filter on. Neighbouring
// threads have neighbouring outputs of a row, of one tile after the other.
template <class W>
__device__ inline void add_parts(const float* of_parts,  // [parts][filters][kOutputs][kRun]
                                 int parts, int filters, int thread, float* output,
                                 const float* bias, bool relu, const LayerNumbers& layer,
                                 const WinogradDivision& division, int first_tile,
                                 int first_filter) {
  constexpr int kRun = W::kTiles * W::kOutputs;
  const int tile = first_tile + thread % kRun / W::kOutputs;
  const int p = tile / division.tiles_across % division.tiles_down * W::kOutputs;
  const int q = tile % division.tiles_across * W::kOutputs + thread % W::kOutputs;
  const int n = tile / division.tiles_across / division.tiles_down;
  if (tile >= division.tiles || q >= layer.Q) return;
#pragma unroll 4
  for (int i = thread / kRun; i < filters * W::kOutputs; i += W::kThreads / kRun) {
    const int k = first_filter + i / W::kOutputs, row = i % W::kOutputs;
    if (k >= layer.K || p + row >= layer.P) continue;
    float sum = bias != nullptr ? bias[k] : 0.0f;
    for (int part = 0; part < parts; ++part) {
      sum += of_parts[(part * filters * W::kOutputs + i) * kRun + thread % kRun];
    }
    // Not fmaxf, which turns a NaN into 0.
    output[((static_cast<long long>(n) * layer.K + k) * layer.P + p + row) * layer.Q + q] =
        relu && sum < 0.0f ? 0.0f : sum;
  }
}

}  // namespace halo::convolve
