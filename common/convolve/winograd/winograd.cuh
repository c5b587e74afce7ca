// The transforms of Winograd's method, along one line, and its shapes as constants.
//
// m outputs of r taps in a line are coefficients of a product of two polynomials, which can be had from its
// values at n = m + r - 1 points: outputs = A^T [(G taps) . (B^T inputs)], n multiplications where the
// definition has m * r. Here the points are 0, 1, -1, infinity for n = 4 and 0, 1, -1, 2, -2, infinity for
// n = 6. In two dimensions each transform is done along the columns and along the rows, and n * n
// frequencies are multiplied. B^T follows from the points alone: 4 outputs of 3 taps, 3 of 4 and 2 of 5
// have the same one. (More points would save more multiplications, but the numbers in A and B grow until a
// float has no digits left for the inputs.)
#pragma once

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
  // Of a lane's sums: frequencies, filters, tiles.
  static constexpr int kOwn = kFrequencies / kIs.warps;
  static constexpr int kRows = 8, kColumns = kIs.pairs() / (kRows * kWarpSize);
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

}  // namespace halo::convolve
