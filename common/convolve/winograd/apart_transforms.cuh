// What the kernels before and after winograd_apart.cu's and winograd_split.cu's products do: a thread transforms a tile.
#pragma once

#include "common/convolve/winograd/winograd.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

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

constexpr int kThreads = 128;  // of a block that transforms: a tile each

// B^T d B of a tile's patch d: calls leave(frequency, value) for each frequency. Where there is no channel, and for tiles
// that fill up the last piece, they are zeros, as ghost cells are.
template <class W, bool kStrided, class Leave>
__device__ inline void transform_patch(const float* input,  // [images][C][H][W]
                                       const LayerNumbers& layer, const ApartDivision& division,
                                       int images, bool is_channel, int channel, int tile,
                                       const Leave& leave) {
  const ApartPatch<W, kStrided> at(layer, division, channel, tile);
  const float* cells = input + (static_cast<long long>(at.n) * layer.C + at.c) * layer.H * layer.W;
  float patch[W::kCells][W::kCells];
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) {
#pragma unroll
    for (int j = 0; j < W::kCells; ++j) {
      const int h = at.h + i * at.down, w = at.w + j * at.across;
      const bool exists =
          is_channel && at.n < images && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      patch[i][j] = exists ? cells[h * layer.W + w] : 0.0f;
    }
  }
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) transform_line(patch[i]);
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = patch[i][j];
    transform_line(column);
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) leave(i * W::kCells + j, column[i]);
  }
}

// A^T m A of a tile's sums m, sum_of(frequency), to its outputs that exist; tiles that only fill up have none. Piece is
// kOutputs floats where they are 4 or 2 and Q is a multiple of them, so that a row of a tile is one piece of memory, else a
// float.
template <class W, class Piece, class SumOf>
__device__ inline void finish_tile(const SumOf& sum_of,
                                   float* output,      // [images][K][P][Q]
                                   const float* bias,  // [K], or null
                                   bool relu, const LayerNumbers& layer,
                                   const ApartDivision& division, int images, int k, int tile) {
  const int line = tile / division.tiles_across, n = line / division.tiles_down;
  const int p = line % division.tiles_down * W::kOutputs;
  const int q = tile % division.tiles_across * W::kOutputs;
  if (n >= images) return;

  float half[W::kOutputs][W::kCells], y[W::kOutputs];
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = sum_of(i * W::kCells + j);
    transform_sums<W>(column, y);
#pragma unroll
    for (int i = 0; i < W::kOutputs; ++i) half[i][j] = y[i];
  }
  let_next_launch_begin();
  const float its_bias = bias != nullptr ? bias[k] : 0.0f;
  float* const to =
      output + ((static_cast<long long>(n) * layer.K + k) * layer.P + p) * layer.Q + q;
#pragma unroll
  for (int i = 0; i < W::kOutputs; ++i) {
    if (p + i >= layer.P) continue;
    alignas(16) float row[W::kOutputs];
    transform_sums<W>(half[i], row);
#pragma unroll
    for (int j = 0; j < W::kOutputs; ++j) {
      row[j] += its_bias;
      if (relu && row[j] < 0.0f) row[j] = 0.0f;  // not fmaxf, which turns a NaN into 0
    }
    constexpr int kPiece = sizeof(Piece) / sizeof(float);
#pragma unroll
    for (int j = 0; j < W::kOutputs; j += kPiece) {
      if (q + j < layer.Q) {
        *reinterpret_cast<Piece*>(to + i * layer.Q + j) = *reinterpret_cast<const Piece*>(row + j);
      }
    }
  }
}

}  // namespace halo::convolve
