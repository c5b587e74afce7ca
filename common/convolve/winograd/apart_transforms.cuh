// The kernels of winograd_apart.cu before and after the products: a thread transforms a tile.
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

// Preconditions: gridDim.x = blocks of tiles * division.channels; kStrided unless strides are 1; division.tile_pitch a
// multiple of 4. Neighbouring threads have neighbouring tiles, whose patches overlap: they read the same cells.
template <int kShape, bool kStrided>
__global__ void __launch_bounds__(kThreads)
    transform_inputs_kernel(const float* input,  // [images][C][H][W]
                            float* transformed,  // [kFrequencies][channels][tile_pitch]
                            LayerNumbers layer, ApartDivision division, int images,
                            Divisor blocks) {  // of tiles
  using W = Apart<kShape>;
  const int channel = static_cast<int>(blockIdx.x) / blocks;  // of a phase
  const int tile = (blockIdx.x - channel * blocks.value) * kThreads + threadIdx.x;
  wait_for_launches_before();
  if (tile >= division.tile_pitch) return;
  const ApartPatch<W, kStrided> at(layer, division, channel, tile);
  const float* cells = input + (static_cast<long long>(at.n) * layer.C + at.c) * layer.H * layer.W;

  // Tiles that fill up the last piece are zeros, as ghost cells are.
  float patch[W::kCells][W::kCells];
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) {
#pragma unroll
    for (int j = 0; j < W::kCells; ++j) {
      const int h = at.h + i * at.down, w = at.w + j * at.across;
      const bool exists = at.n < images && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      patch[i][j] = exists ? cells[h * layer.W + w] : 0.0f;
    }
  }
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) transform_line(patch[i]);
  float* const to = transformed + channel * division.tile_pitch + tile;
  const int frequency = division.channels * division.tile_pitch;  // from one to the next
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = patch[i][j];
    transform_line(column);
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) to[(i * W::kCells + j) * frequency] = column[i];
  }
  // The products may begin, and not before: their blocks go where there is room, and while others still transform
  // that is two here and none there. (Called first, at one image it made some layers take twice as long.)
  let_next_launch_begin();
}

// Preconditions: gridDim.x = blocks of tiles * K. Piece is kOutputs floats where they are 4 or 2 and Q is a multiple of
// them, so that a row of a tile is one piece of memory, else a float.
template <int kShape, class Piece>
__global__ void __launch_bounds__(kThreads)
    transform_sums_kernel(const float* sums,  // [kFrequencies][K][tile_pitch]
                          float* output,      // [images][K][P][Q]
                          const float* bias,  // [K], or null
                          bool relu, LayerNumbers layer, ApartDivision division, int images,
                          Divisor blocks) {  // of tiles
  using W = Apart<kShape>;
  const int k = static_cast<int>(blockIdx.x) / blocks;
  const int tile = (blockIdx.x - k * blocks.value) * kThreads + threadIdx.x;
  const int line = tile / division.tiles_across, n = line / division.tiles_down;
  const int p = line % division.tiles_down * W::kOutputs;
  const int q = tile % division.tiles_across * W::kOutputs;
  wait_for_launches_before();
  if (n >= images) return;

  const float* const from = sums + k * division.tile_pitch + tile;
  const int frequency = layer.K * division.tile_pitch;  // from one to the next
  float half[W::kOutputs][W::kCells], y[W::kOutputs];
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = from[(i * W::kCells + j) * frequency];
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
