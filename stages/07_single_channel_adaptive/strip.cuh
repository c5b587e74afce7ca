// What the blocks of all three kernels do with a piece of the map that is on chip: windows of it times some filters.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::single_channel_adaptive {

constexpr int kThreads =
    512;  // of a block; occupancy: two blocks per SM, so a thread has 64 registers
constexpr int kAhead = 24;  // of them for the next piece

// The row of the map with which the windows of output row p begin, as far as such a row exists.
__device__ inline int map_row(const LayerNumbers& layer, int p) {
  return min(max(p - layer.padding_h, 0), layer.H);
}

// Output rows first_p to end_p of some filters. Neighbouring threads have neighbouring pixels, which
// lie side by side in memory; a warp has one filter at a time, so that it reads a tap as one
// broadcast. Where there are fewer pixels than threads, warps share the filters. As Chen et al.
// (2017), whom the paper follows, a thread keeps its window in registers for all filters.
template <int kSize>  // rows and columns of the filters: 1, 3 or 5; 0: any, and no window
__device__ inline void compute(const LayerNumbers& layer, int first_p, int end_p, int filters,
                               const float* cells,  // shared, [rows of the map][W]
                               const float* taps,   // shared, [filters][R][S]
                               float* output) {     // [filters][P][Q]
  const int pixels = (end_p - first_p) * layer.Q;
  const int pixel_threads = min(kThreads, (pixels + kWarpSize - 1) / kWarpSize * kWarpSize);
  const int filter_threads = min(kThreads / pixel_threads, filters);
  const int filter_thread = threadIdx.x / pixel_threads;
  if (filter_thread >= filter_threads) return;  // warps left over: idle

  const int top = map_row(layer, first_p);
  for (int pixel = threadIdx.x % pixel_threads; pixel < pixels; pixel += pixel_threads) {
    const int first_h = first_p + pixel / layer.Q - layer.padding_h;  // the window's corner
    const int first_w = pixel % layer.Q - layer.padding_w;
    float window[kSize > 0 ? kSize * kSize : 1];
    if constexpr (kSize > 0) {
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i) {
        const int h = first_h + i / kSize, w = first_w + i % kSize;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        window[i] = exists ? cells[(h - top) * layer.W + w] : 0.0f;
      }
    }
    for (int f = filter_thread; f < filters; f += filter_threads) {
      float sum = 0.0f;
      if constexpr (kSize > 0) {
#pragma unroll
        for (int i = 0; i < kSize * kSize; ++i) sum += window[i] * taps[f * kSize * kSize + i];
      } else {
        for (int r = 0, h = first_h; r < layer.R; ++r, ++h) {
          if (h < 0 || h >= layer.H) continue;
          for (int s = 0, w = first_w; s < layer.S; ++s, ++w) {
            if (w < 0 || w >= layer.W) continue;
            sum += cells[(h - top) * layer.W + w] * taps[(f * layer.R + r) * layer.S + s];
          }
        }
      }
      output[(f * layer.P + first_p) * layer.Q + pixel] = sum;
    }
  }
}

}  // namespace halo::single_channel_adaptive
