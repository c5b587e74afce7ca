// A tile of register_tile.cu as constants, and which of its sums a thread has.
//
//   A tile of 64 x 128 with 8 x 8 a thread: four warps of 32 x 64. The lanes of a warp stand 4 x 8, each with a
//   quad of filters by a quad of pixels; and so once more below, to the right, and both.
//
//     pixels           0-3  4-7   ...             28-31    32-63        64-127
//     filters  0-3       0    1    4    5    8    9   12   13   once
//              4-7       2    3    6    7   10   11   14   15   more       warp 2
//              8-11     16   17   20   21   24   25   28   29
//             12-15     18   19   22   23   26   27   30   31
//             16-31       once more                             once more
//             32-63       warp 1                                           warp 3
//
//   So the lanes of a warp read neighbours. Those that are side by side have the same filters, and those two further on
//   the same pixels: a read then takes two passes through the banks, else up to four.
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/register_tile/tile.hpp"
#include "common/harness/kernel.h"

namespace halo::convolve {

// One of kRegisterShapes.
template <int kShape>
struct Shape {
  static constexpr RegisterShape kIs = kRegisterShapes[kShape];
  static constexpr int kFilters = kIs.filters, kPixels = kIs.pixels;
  static constexpr int kSumFilters = kIs.thread_filters, kSumPixels = kIs.thread_pixels;
  static constexpr int kThreads = kIs.threads();
  static constexpr int kRows = 4, kColumns = 8;  // of lanes
  static constexpr int kWarpsDown = kFilters / (kRows * kSumFilters);
  using Sums = float[kSumFilters][kSumPixels];  // of a thread

  // Filter i of a thread whose first one is `first`. (Its pixel j is j * kColumns further on than its first one, for j
  // a multiple of four; three neighbours follow.)
  __device__ static int filter(int first, int i) { return first + i / 4 * 4 * kRows + i % 4; }
};

// Where the outputs of a tile go.
struct TileOutputs {
  float* const output;  // [N][K][P][Q]
  const bool relu;
  const LayerNumbers& layer;
  const TileDivisors& by;
  const int first_filter, first_pixel;  // of the tile

  // With ReLU. (Not fmaxf, which turns a NaN into 0.)
  __device__ float positive(float sum) const { return relu && sum < 0.0f ? 0.0f : sum; }
};

}  // namespace halo::convolve
