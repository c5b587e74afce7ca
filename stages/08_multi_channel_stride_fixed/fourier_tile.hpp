// What the kernels of stage 08's step 7 and their costs must agree on.
#pragma once

#include "common/harness/kernel.h"

namespace halo::multi_channel_stride_fixed {

// Tiles of 16 x 16 cells. These are real, so of the 16 rows of frequencies 9 say all: row 16 - f is row f, conjugate and
// mirrored.
inline constexpr int kSize = 16, kRows = kSize / 2 + 1, kFrequencies = kRows * kSize;
inline constexpr int kTransformThreads = kRows * kWarpSize;  // a lane has a tile
// Filters and tiles of a block of products, and channels of a segment.
inline constexpr int kSide = 64, kDepth = 8;

constexpr int filled_up(int count, int whole) { return (count + whole - 1) / whole * whole; }

struct FourierTiles {
  int images, channels, H, W;
  int down, across;    // tiles of an image
  int step_h, step_w;  // from tile to tile
  int padding_h, padding_w;
  int depth, filters, row;  // channels, filters and tiles of all images, filled up
};

inline FourierTiles fourier_tiles(const LayerNumbers& layer) {
  const int step_h = kSize + 1 - layer.R, step_w = kSize + 1 - layer.S;
  const int down = (layer.P - 1) / step_h + 1, across = (layer.Q - 1) / step_w + 1;
  return {layer.N,
          layer.C,
          layer.H,
          layer.W,
          down,
          across,
          step_h,
          step_w,
          layer.padding_h,
          layer.padding_w,
          filled_up(layer.C, kDepth),
          filled_up(layer.K, kSide),
          filled_up(layer.N * down * across, kSide)};
}

// The filters as images of one tile each.
inline FourierTiles filter_tiles(const LayerNumbers& layer) {
  return {layer.K,
          layer.C,
          layer.R,
          layer.S,
          1,
          1,
          kSize,
          kSize,
          0,
          0,
          filled_up(layer.C, kDepth),
          0,
          filled_up(layer.K, kSide)};
}

inline long long fourier_packed_floats(const LayerNumbers& layer) {
  const FourierTiles of = filter_tiles(layer);
  return 2ll * kFrequencies * of.depth * of.row;
}

// Frequencies of the input, then those of the output.
inline long long fourier_workspace_floats(const LayerNumbers& layer) {
  const FourierTiles of = fourier_tiles(layer);
  return 2ll * kFrequencies * (of.depth + of.filters) * of.row;
}

}  // namespace halo::multi_channel_stride_fixed
