// Stage 08: the steps that all four kernels are made of. The kernels differ in what stays on chip and
// in what comes again: read one of them first, then the steps it takes.
//
// Copies to shared memory are asynchronous: on the GPU of the paper a thread loads into registers,
// computes, then stores; from Ampere on the copy is an instruction of its own and needs no
// registers, so that any layer can be prefetched, however many cells its lines have. (On older GPUs
// nvcc makes loads and stores of it, which wait.)
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "stages/08_multi_channel_stride_fixed/blocks.hpp"

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

// Lines are numbered from channel to channel: line channel_lines * c + j is row j of those that the
// block needs of channel c. How many of them the first `taps` taps need, the straddled last row of
// the filter included.
__device__ inline int lines_until(const Layer& layer, const Block& block, int taps) {
  const int last = taps - 1;
  const int c = last / (layer.R * layer.S);
  const int r = last % (layer.R * layer.S) / layer.S;
  return c * block.channel_lines + (block.tile_rows - 1) * layer.stride_h + r + 1;
}

// [doc:copy_segment]
// Starts the copy of taps first, ..., first + count - 1 of `many` filters. The lanes of a warp read
// along a filter, which is how it lies in memory: with 8 taps a segment, 4 filters a request.
__device__ inline void copy_segment(const float* filters,  // [K][C][R][S]
                                    float* segment,        // [many][pitch], shared
                                    const Layer& layer, int first_filter, int many, int pitch,
                                    int first, int count) {
  const int taps = layer.C * layer.R * layer.S;
  const int threads = blockDim.x * blockDim.y;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < many * count; i += threads) {
    const int m = i / count;
    const bool exists = first_filter + m < layer.K;  // else zeros are as good
    const float* from = exists ? filters + (first_filter + m) * taps + first + i % count : filters;
    __pipeline_memcpy_async(segment + m * pitch + i % count, from, 4, exists ? 0 : 4);
  }
}
// [/doc:copy_segment]

// [doc:copy_lines]
// Starts the copy of lines first, ..., end - 1 into the ring: line L goes to place L mod ring, so
// that it takes the place of one that no tap needs any more. Ghost cells are stored as zeros.
__device__ inline void copy_lines(const float* input,  // [N][C][H][W]
                                  float* ring,         // [block.ring][block.line], shared
                                  const Layer& layer, const Block& block, Corner corner, int first,
                                  int end) {
  const int cells = (end - first) * block.line;
  const int start = first % block.ring * block.line;
  const int threads = blockDim.x * blockDim.y;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < cells; i += threads) {
    const int line = first + i / block.line;
    const int c = line / block.channel_lines;
    // Unsigned: what lies before the first row or column is a large number, and one question tells
    // both ends.
    const unsigned row = static_cast<unsigned>(corner.p * layer.stride_h - layer.padding_h) +
                         line % block.channel_lines;
    const unsigned column =
        static_cast<unsigned>(corner.q * layer.stride_w - layer.padding_w) + i % block.line;
    const bool exists = row < layer.H && column < layer.W;
    const float* from =
        exists ? input + ((corner.n * layer.C + c) * layer.H + row) * layer.W + column : input;
    int at = start + i;
    if (at >= block.ring * block.line) at -= block.ring * block.line;
    __pipeline_memcpy_async(ring + at, from, 4, exists ? 0 : 4);
  }
}
// [/doc:copy_lines]

// A tap's place in its filter, and where the ring holds the line that target row 0 needs for it.
struct Tap {
  int r, s;
  int at;  // in floats
};

__device__ inline Tap first_tap_of_channel(const Block& block, int c) {
  return {0, 0, c * block.channel_lines % block.ring * block.line};
}

__device__ inline void advance(Tap& tap, const Layer& layer, const Block& block) {
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

__device__ inline Target target_of(const Layer& layer, const Block& block, Corner corner) {
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

// [doc:multiply]
// `count` taps, from `tap` on, of the thread's kSums filters with its target pixel. Only these pixels
// go to registers, four at a time; the rest of the lines stays where it is. All lanes of a warp
// have the same filters: a float4 of shared memory feeds four multiply-adds of all lanes.
template <int kSums>
__device__ inline void multiply(const float* segment,  // [kSums][pitch], shared
                                const float* ring,     // [block.ring][block.line], shared
                                const Layer& layer, const Block& block, Target target, int pitch,
                                int count, Tap& tap, float (&sums)[kSums]) {
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
// [/doc:multiply]

// Writes the thread's sums to their outputs.
template <int kSums>
__device__ inline void store(const float (&sums)[kSums],
                             float* output,  // [N][K][P][Q]
                             const Layer& layer, Corner corner, Target target, int first_filter) {
  for (int m = 0; m < kSums; ++m) {
    const int k = first_filter + m;
    if (k >= layer.K) break;
    output[((corner.n * layer.K + k) * layer.P + target.p) * layer.Q + target.q] = sums[m];
  }
}

}  // namespace halo::multi_channel_stride_fixed
