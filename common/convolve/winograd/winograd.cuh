// The transforms of Winograd's method, and what is on chip between them.
//
// m outputs of r taps in a line are coefficients of a product of two polynomials, which can be had from its
// values at n = m + r - 1 points: outputs = A^T [(G taps) . (B^T inputs)], n multiplications where the
// definition has m * r. Here the points are 0, 1, -1, infinity for n = 4 and 0, 1, -1, 2, -2, infinity for
// n = 6. In two dimensions each transform is done along the columns and along the rows, and n * n
// frequencies are multiplied. B^T follows from the points alone: 4 outputs of 3 taps, 3 of 4 and 2 of 5
// have the same one. (More points would save more multiplications, but the numbers in A and B grow until a
// float has no digits left for the inputs.)
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "common/convolve/winograd/division.hpp"
#include "common/harness/overlap.h"

namespace halo::convolve {

// One of kWinogradShapes, as constants.
template <int kShape>
struct Winograd {
  static constexpr WinogradShape kIs = kWinogradShapes[kShape];
  static constexpr int kOutputs = kIs.outputs, kTaps = kIs.taps, kCells = kIs.cells();
  static constexpr int kFrequencies = kIs.frequencies(), kThreads = kIs.warps * kWarpSize;
  static constexpr int kFilters = kIs.filters, kTiles = kIs.tiles, kChannels = kIs.channels;
  // Floats of a chunk on chip.
  static constexpr int kLine = kTiles * kCells;        // one row of the patches of all tiles
  static constexpr int kPatch = kCells * kLine;        // of one channel: [kCells][kTiles][kCells]
  static constexpr int kPatches = kChannels * kPatch;  // [kChannels][kPatch]
  static constexpr int kRow = kChannels * kTiles;
  static constexpr int kInputs = kFrequencies * kRow;  // [kFrequencies][kChannels][kTiles]
  static constexpr int kWeights =
      kFrequencies * kChannels * kFilters;  // [kFrequencies][kChannels][kFilters]
  // At the end the sums take their place: [kFrequencies][kFilters][kTiles], a little more than these from
  // one frequency to the next one, for the banks. After them come the outputs that the block adds up, and a barrier.
  static constexpr int kPairs = kIs.pairs(), kPitch = kIs.sums() / kFrequencies;
  static constexpr int kSums = kIs.sums(), kParts = kIs.parts(), kToBarrier = kIs.to_barrier();
};

// One of kApartShapes, as constants.
template <int kShape>
struct Apart {
  static constexpr ApartShape kIs = kApartShapes[kShape];
  static constexpr int kOutputs = kIs.outputs, kTaps = kIs.taps, kCells = kIs.cells();
  static constexpr int kFrequencies = kIs.frequencies();
  // A row of a tile's outputs in one store, where there is a store of so many.
  using Piece =
      std::conditional_t<kOutputs == 4, float4, std::conditional_t<kOutputs == 2, float2, float>>;
};

// Which cells of the input are a tile's patch: the first one's image, channel, row and column, and how far apart they
// are. With strides they are of one phase of the channel.
template <class W, bool kStrided>
struct ApartPatch {
  int n, c, h, w;
  int down = 1, across = 1;

  __device__ ApartPatch(const LayerNumbers& layer, const ApartDivision& division, int channel,
                        int tile) {
    const int line = tile / division.tiles_across;
    n = line / division.tiles_down;
    c = channel;
    h = line % division.tiles_down * W::kOutputs;
    w = tile % division.tiles_across * W::kOutputs;
    if (kStrided) {
      const int phase = channel % division.phases;
      c = channel / division.phases;
      down = layer.stride_h;
      across = layer.stride_w;
      h = h * down + phase / division.phases_across;
      w = w * across + phase % division.phases_across;
    }
    h -= layer.padding_h;
    w -= layer.padding_w;
  }
};

// The share of a thread in copying patches: one column of one tile, and of the lines [kChannels][kCells] of a
// chunk every kGroups-th. Their rows repeat after kRows of them, kStep channels on: so a thread has kRows
// places in the image, and goes from channel to channel. A tile's patch overlaps the next one's by kTaps - 1
// columns, which come twice: from the L1 cache the second time.
template <class W>
struct PatchLines {
  static constexpr int kGroups = W::kThreads / W::kLine;
  static constexpr int kRows = W::kCells == 6 ? 3 : 1;
  static constexpr int kStep = kRows * kGroups / W::kCells;
  static_assert(W::kThreads % W::kLine == 0 && kRows * kGroups % W::kCells == 0);
  static_assert(W::kChannels % kStep == 0);

  int places[kRows];  // in the input, of a chunk that begins with channel 0; -1 for ghost cells

  __device__ PatchLines(const LayerNumbers& layer, const WinogradDivision& division, int tile,
                        int thread) {
    const int h =
        tile / division.tiles_across % division.tiles_down * W::kOutputs - layer.padding_h;
    const int w = tile % division.tiles_across * W::kOutputs - layer.padding_w + thread % W::kCells;
    const int n = tile / division.tiles_across / division.tiles_down;
    for (int i = 0; i < kRows; ++i) {
      const int line = thread / W::kLine + i * kGroups;
      const int row = h + line % W::kCells;
      const bool exists =
          tile < division.tiles && row >= 0 && row < layer.H && w >= 0 && w < layer.W;
      places[i] = exists ? (n * layer.C * layer.H + row) * layer.W + w : -1;
    }
  }

  // A chunk: so many channels, from `input` on. Ghost cells, and channels that do not exist, keep what their places
  // on chip hold.
  __device__ void copy_chunk(const float* input, int channels, int plane, int thread,
                             float* patches) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (places[i] < 0) continue;
      const int first = (thread / W::kLine + i * kGroups) / W::kCells;
      const float* from = input + places[i] + static_cast<long long>(first) * plane;
      float* const to =
          patches + i * W::kThreads + thread;  // line thread / kLine, place thread % kLine
      if (channels == W::kChannels) {
#pragma unroll
        for (int c = 0; c < W::kChannels; c += kStep) {
          __pipeline_memcpy_async(to + c * W::kPatch, from, 4);
          from += kStep * plane;
        }
      } else {
#pragma unroll 1
        for (int c = 0; c < channels - first; c += kStep) {
          __pipeline_memcpy_async(to + c * W::kPatch, from, 4);
          from += kStep * plane;
        }
      }
    }
  }
};

// B^T along one line, in place. Points of opposite signs have the same even and odd parts.
__device__ inline void transform_line(float (&d)[4]) {
  const float at_0 = d[0] - d[2];
  const float at_1 = d[1] + d[2];
  const float at_minus_1 = d[2] - d[1];
  d[3] -= d[1];
  d[0] = at_0;
  d[1] = at_1;
  d[2] = at_minus_1;
}

__device__ inline void transform_line(float (&d)[6]) {
  const float even_1 = d[4] - 4 * d[2];
  const float odd_1 = d[3] - 4 * d[1];
  const float even_2 = d[4] - d[2];
  const float odd_2 = 2 * (d[3] - d[1]);
  d[0] = 4 * d[0] + (d[4] - 5 * d[2]);
  d[5] = 4 * d[1] + (d[5] - 5 * d[3]);
  d[1] = even_1 + odd_1;
  d[2] = even_1 - odd_1;
  d[3] = even_2 + odd_2;
  d[4] = even_2 - odd_2;
}

// Two frequencies of the same along a column: 0 and infinity for pair 0, else a point and its opposite.
__device__ inline float2 two_of_line(const float (&d)[4], int pair) {
  if (pair == 0) return {d[0] - d[2], d[3] - d[1]};
  return {d[1] + d[2], d[2] - d[1]};
}

__device__ inline float2 two_of_line(const float (&d)[6], int pair) {
  if (pair == 0) return {4 * d[0] + (d[4] - 5 * d[2]), 4 * d[1] + (d[5] - 5 * d[3])};
  const float even = d[4] - (pair == 1 ? 4 : 1) * d[2];
  const float odd = (pair == 1 ? 1 : 2) * d[3] - (pair == 1 ? 4 : 2) * d[1];
  return {even + odd, even - odd};
}

// B^T d B of a chunk's patches. A whole patch would be too many registers beside the sums, and too much work
// for a few threads while others wait: a thread has two rows of a patch's frequencies.
template <class W>
__device__ inline void transform_patches(const float* patches, int thread, float* inputs) {
  constexpr int kCells = W::kCells;
  static_assert(W::kThreads == W::kRow * kCells / 2);
  const int pair = thread / W::kRow;  // the same for all lanes of a warp
  const int cell = thread % W::kRow;  // [kChannels][kTiles]
  const float* patch = patches + cell / W::kTiles * kCells * W::kLine + cell % W::kTiles * kCells;
  float one[kCells], other[kCells];
#pragma unroll
  for (int w = 0; w < kCells; w += 2) {
    float left[kCells] = {}, right[kCells] = {};
#pragma unroll
    for (int h = 0; h < kCells; ++h) {
      if (pair > 0 && (h == 0 || h == kCells - 1)) continue;  // only 0 and infinity need them
      const float2 cells = *reinterpret_cast<const float2*>(patch + h * W::kLine + w);
      left[h] = cells.x;
      right[h] = cells.y;
    }
    const float2 of_left = two_of_line(left, pair);
    const float2 of_right = two_of_line(right, pair);
    one[w] = of_left.x;
    one[w + 1] = of_right.x;
    other[w] = of_left.y;
    other[w + 1] = of_right.y;
  }
  transform_line(one);
  transform_line(other);
  float* const to_one = inputs + (pair == 0 ? 0 : 2 * pair - 1) * kCells * W::kRow + cell;
  float* const to_other = inputs + (pair == 0 ? kCells - 1 : 2 * pair) * kCells * W::kRow + cell;
#pragma unroll
  for (int w = 0; w < kCells; ++w) {
    to_one[w * W::kRow] = one[w];
    to_other[w * W::kRow] = other[w];
  }
}

// A^T: output p is the sum of point^p times the frequency's sum; infinity counts in the last one only.
template <class W>
__device__ inline void transform_sums(const float (&sums)[W::kCells], float (&y)[W::kOutputs]) {
  const float even_1 = sums[1] + sums[2];
  const float odd_1 = sums[1] - sums[2];
  if constexpr (W::kCells == 4) {
    y[0] = sums[0] + even_1;
    y[1] = odd_1 + sums[3];
  } else {
    const float even_2 = sums[3] + sums[4];
    const float odd_2 = sums[3] - sums[4];
    y[0] = sums[0] + even_1 + even_2;
    y[1] = odd_1 + 2 * odd_2;
    if constexpr (W::kOutputs > 2) y[2] = even_1 + 4 * even_2;
    if constexpr (W::kOutputs > 3) y[3] = odd_1 + 8 * odd_2;
    y[W::kOutputs - 1] += sums[5];
  }
}

// Where a pair's sums are: lanes that store together have filters four apart, which would be bank conflicts. Done
// twice it is undone.
template <class W>
__device__ inline int swizzled(int pair) {
  const int fours = pair / (4 * W::kTiles);
  return pair ^ (fours & 1) << 4 ^ (fours >> 1 & 1) << 3;
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
