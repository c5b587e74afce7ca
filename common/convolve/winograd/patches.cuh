// How the inputs of winograd.cu come on chip: patches of the image, and their transforms.
//
//   a chunk's patches    [kChannels][kCells][kTiles][kCells]: of one channel line by line, of a line tile by tile
//   its inputs           [kFrequencies][kChannels][kTiles]: of one frequency a matrix
#pragma once

#include <cuda_pipeline.h>

#include "common/convolve/winograd/winograd.cuh"

namespace halo::convolve {

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

}  // namespace halo::convolve
