// Stage 08: how the lines of the maps come on chip, one after the other, where they pass by.
#pragma once

#include <cuda_pipeline.h>

#include "common/harness/async_copy.h"
#include "stages/08_multi_channel_stride_fixed/block.cuh"

namespace halo::multi_channel_stride_fixed {

// The line after the last that tap `last` of the filters, [C][R][S], needs.
__device__ inline int end_of_lines(const LayerNumbers& layer, const Block& block, int last) {
  return last / (layer.R * layer.S) * block.channel_lines + last % (layer.R * layer.S) / layer.S +
         (block.tile_rows - 1) * layer.stride_h + 1;
}

// Lines first to end - 1, each to its place in the ring. They are under way when the function returns.
__device__ inline void copy_lines(float* ring,         // [block.ring][block.line], shared
                                  const float* input,  // [N][C][H][W]
                                  const LayerNumbers& layer, const Block& block, Corner corner,
                                  int first, int end, int thread, int threads) {
  const int start = first % block.ring * block.line;
  for (int i = thread; i < (end - first) * block.line; i += threads) {
    const int line = first + i / block.line;
    const int c = line / block.channel_lines;
    const int h = corner.p * layer.stride_h - layer.padding_h + line % block.channel_lines;
    const int w = corner.q * layer.stride_w - layer.padding_w + i % block.line;
    const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;  // else zero
    const float* from =
        exists ? input + ((corner.n * layer.C + c) * layer.H + h) * layer.W + w : input;
    int at = start + i;
    if (at >= block.ring * block.line) at -= block.ring * block.line;
    copy_or_zero_async<4>(ring + at, from, exists);
  }
}

}  // namespace halo::multi_channel_stride_fixed
