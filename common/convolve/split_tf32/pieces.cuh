// How the pieces of split_tf32.cu come on chip: of one tap 16 channels of both factors.
//
//   a piece on chip    filters, as they were packed     [kFilters / 16][2 steps of 8 channels][big, small][lane][4]
//                      pixels                           [16 channels][kPixelRow]
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/split_tf32/tile.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/kernel.h"

namespace halo::convolve {

// Which pixels a thread copies, and which outputs it stores: the same ones, kAtOnce neighbours, of every kRows-th
// channel or filter.
template <int kFilters, int kAtOnce>
struct OwnPixels {
  static constexpr int kThreads = 2 * kFilters;
  static constexpr int kRows = kThreads * kAtOnce / kTilePixels;  // copied or stored at a time

  int pixel, row;  // of the tile, the first channel or filter
  bool exists;
  int n, in_map;  // the image, and where in its output; 0 where there is none

  __device__ OwnPixels(const LayerNumbers& layer, int tile)
      : pixel(threadIdx.x * kAtOnce % kTilePixels), row(threadIdx.x * kAtOnce / kTilePixels) {
    const int map = layer.P * layer.Q;
    const int m = tile * kTilePixels + pixel;
    exists = m < layer.N * map;
    n = exists ? m / map : 0;
    in_map = exists ? m % map : 0;
  }
};

// A thread's share of the copies, piece after piece. Of those after the last one there are zeros: a stage is always
// whole.
template <int kFilters, int kAtOnce>
struct PieceCopies {
  using Own = OwnPixels<kFilters, kAtOnce>;
  static constexpr int kPieceFilters = 2 * kFilters * kPieceChannels;
  static constexpr int kPieceFloats = kPieceFilters + kPieceChannels * kPixelRow;

  const float* const input;   // [N][C][H][W]
  const float* const packed;  // as split_filters_kernel leaves it
  const LayerNumbers& layer;
  const Own& own;
  const int top, left, channel, pieces, stages;
  const float* next_filters;
  int c = 0, s = 0, r = 0, next = 0;  // the piece to be copied: its first channel, its tap

  __device__ PieceCopies(const float* of_input, const float* of_filters,
                         const LayerNumbers& numbers, const Own& of_own, int group)
      : input(of_input),
        packed(of_filters),
        layer(numbers),
        own(of_own),
        top(own.in_map / layer.Q * layer.stride_h - layer.padding_h),
        left(own.in_map % layer.Q * layer.stride_w - layer.padding_w),
        channel(layer.H * layer.W),
        pieces(layer.R * layer.S * ((layer.C - 1) / kPieceChannels + 1)),
        stages((pieces - 1) / kStagePieces + 1),
        next_filters(packed +
                     (static_cast<long long>(group) * pieces * kPieceFilters + threadIdx.x * 4)) {}

  __device__ void copy_piece(float* to) {
    const bool is_piece = next < pieces;
    for (int i = 0; i < kPieceFilters; i += Own::kThreads * 4) {
      copy_or_zero_async<16>(to + i + threadIdx.x * 4, is_piece ? next_filters + i : packed,
                             is_piece);
    }
    // One tap's cell of this thread's outputs, in kRows-th channels: what changes is an offset.
    const int h = top + r, w = left + s;
    const bool is_cell = is_piece && own.exists && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    const int rows = is_cell ? layer.C - c - own.row : 0;
    const float* const from =
        rows > 0 ? input + ((own.n * layer.C + c + own.row) * channel + h * layer.W + w) : input;
    float* const row = to + kPieceFilters + own.row * kPixelRow + own.pixel;
#pragma unroll
    for (int i = 0; i < kPieceChannels; i += Own::kRows) {
      const bool exists = i < rows;  // else zeros
      copy_or_zero_async<4 * kAtOnce>(row + i * kPixelRow, exists ? from + i * channel : input,
                                      exists);
    }
    next += 1;
    next_filters += kPieceFilters;
    c += kPieceChannels;
    if (c >= layer.C) c = 0, s += 1;
    if (s == layer.S) s = 0, r += 1;
  }

  // To [kStages * kStagePieces][kPieceFloats] of shared memory.
  __device__ void copy_stage(float* shared, int stage) {
    for (int i = 0; i < kStagePieces; ++i) {
      copy_piece(shared + (stage * kStagePieces + i) * kPieceFloats);
    }
    __pipeline_commit();
  }
};

}  // namespace halo::convolve
