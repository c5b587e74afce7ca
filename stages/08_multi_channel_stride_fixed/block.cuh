// Stage 08: which outputs a block and a thread have, and how a thread computes them from what is on chip.
// That is the same in all four kernels; they differ in what stays on chip and what passes by.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/08_multi_channel_stride_fixed/block.hpp"

namespace halo::multi_channel_stride_fixed {

// The first target of a block.
struct Corner {
  int n, p, q;
};

__device__ inline Corner corner_of(const Block& block, int tile) {
  const int in_image = tile % (block.tiles_down * block.tiles_across);
  return {tile / (block.tiles_down * block.tiles_across),
          in_image / block.tiles_across * block.tile_rows,
          in_image % block.tiles_across * block.tile_columns};
}

// A tap's place in its filter, and where the line is on chip that target row 0 needs for it. Lines are
// numbered from channel to channel: line channel_lines * c + j is row j of those that the block needs of
// channel c. Line L has place L mod block.ring.
struct Tap {
  int r, s;
  int at;  // in floats
};

__device__ inline Tap first_tap_of_channel(const Block& block, int c) {
  return {0, 0, c * block.channel_lines % block.ring * block.line};
}

__device__ inline void advance(Tap& tap, const LayerNumbers& layer, const Block& block) {
  if (++tap.s < layer.S) return;
  tap.s = 0;
  tap.at += block.line;
  if (++tap.r == layer.R) {  // the next channel: past the lines of the lower target rows
    tap.r = 0;
    tap.at += (block.channel_lines - layer.R) * block.line;
  }
  if (tap.at >= block.ring * block.line) tap.at -= block.ring * block.line;
}

// A thread's target pixel.
struct Target {
  int p, q;
  int at;       // in floats, from the ring's line for target row 0
  bool exists;  // the tile may be smaller than the block, and reach over the map's edge
};

__device__ inline Target target_of(const LayerNumbers& layer, const Block& block, Corner corner) {
  const int row = threadIdx.x / block.tile_columns;
  const int column = threadIdx.x % block.tile_columns;
  return {corner.p + row, corner.q + column,
          row * layer.stride_h * block.line + column * layer.stride_w,
          row < block.tile_rows && corner.p + row < layer.P && corner.q + column < layer.Q};
}

__device__ inline float pixel_of(const float* ring, const Block& block, Target target, Tap tap) {
  int at = tap.at + target.at + tap.s;
  if (at >= block.ring * block.line) at -= block.ring * block.line;
  return ring[at];
}

// `count` taps, from `tap` on, of the thread's kSums filters with its target pixel. Only these pixels
// go to registers, four at a time; the rest of the lines stays where it is. All lanes of a warp
// have the same filters: a float4 of shared memory feeds four multiply-adds of all lanes.
template <int kSums>
__device__ inline void multiply(const float* segment,  // [kSums][pitch], shared
                                const float* ring,     // [block.ring][block.line], shared
                                const LayerNumbers& layer, const Block& block, Target target,
                                int pitch, int count, Tap& tap, float (&sums)[kSums]) {
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    float pixel[4];
    for (int j = 0; j < 4; ++j) {
      pixel[j] = pixel_of(ring, block, target, tap);
      advance(tap, layer, block);
    }
#pragma unroll
    for (int m = 0; m < kSums; ++m) {
      const float4 tap4 = *reinterpret_cast<const float4*>(segment + m * pitch + i);
      sums[m] += pixel[0] * tap4.x;
      sums[m] += pixel[1] * tap4.y;
      sums[m] += pixel[2] * tap4.z;
      sums[m] += pixel[3] * tap4.w;
    }
  }
  for (; i < count; ++i) {  // a segment that is no multiple of 4: 9 taps, or the filter's end
    const float pixel = pixel_of(ring, block, target, tap);
    advance(tap, layer, block);
#pragma unroll
    for (int m = 0; m < kSums; ++m) sums[m] += pixel * segment[m * pitch + i];
  }
}

// Writes the thread's sums to their outputs.
template <int kSums>
__device__ inline void store(const float (&sums)[kSums],
                             float* output,  // [N][K][P][Q]
                             const LayerNumbers& layer, Corner corner, Target target,
                             int first_filter) {
  for (int m = 0; m < kSums; ++m) {
    const int k = first_filter + m;
    if (k >= layer.K) break;
    output[((corner.n * layer.K + k) * layer.P + target.p) * layer.Q + target.q] = sums[m];
  }
}

}  // namespace halo::multi_channel_stride_fixed
