// How the pieces of steps 2 and 3 come on chip: the first as it is, each next one while the present one is in use.
#pragma once

#include <cuda_runtime.h>

#include "stages/07_single_channel_adaptive/strip.cuh"

namespace halo::single_channel_adaptive {

// Output rows p to end_p - 1 of filters k to end_k - 1.
struct Piece {
  int p, end_p, k, end_k;
};

// What of a piece is not on chip yet.
struct Arriving {
  const float* cells;
  int cell_count;
  const float* taps;
  int tap_count;
};

// With `rows` and `taps`: those of the piece are not those that are on chip.
__device__ inline Arriving arriving_of(const LayerNumbers& layer,
                                       const float* map,      // [H][W]
                                       const float* filters,  // [K][R][S]
                                       const Piece& piece, bool rows, bool taps) {
  const int top = map_row(layer, piece.p), size = layer.R * layer.S;
  return {map + top * layer.W,
          rows ? (map_row(layer, piece.end_p - 1 + layer.R) - top) * layer.W : 0,
          filters + piece.k * size, taps ? (piece.end_k - piece.k) * size : 0};
}

// A piece that nothing hides.
__device__ inline void load(const Arriving& arriving, float* cells, float* taps) {
#pragma unroll 1
  for (int i = threadIdx.x; i < arriving.cell_count; i += kThreads) cells[i] = arriving.cells[i];
#pragma unroll 1
  for (int i = threadIdx.x; i < arriving.tap_count; i += kThreads) taps[i] = arriving.taps[i];
}

// Into registers, from where `put` takes it.
__device__ __forceinline__ void fetch(const Arriving& arriving, float (&next)[kAhead]) {
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {
    const int i = j * kThreads + threadIdx.x;
    if (i < arriving.cell_count) {
      next[j] = arriving.cells[i];
    } else if (i - arriving.cell_count <
               arriving.tap_count) {  // else: two loads in turn would wait for each other
      next[j] = arriving.taps[i - arriving.cell_count];
    }
  }
}

// From the registers on chip, once nobody reads the present piece any more.
__device__ __forceinline__ void put(const Arriving& arriving, const float (&next)[kAhead],
                                    float* cells, float* taps) {
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {
    const int i = j * kThreads + threadIdx.x;
    if (i < arriving.cell_count) {
      cells[i] = next[j];
    } else if (i - arriving.cell_count < arriving.tap_count) {
      taps[i - arriving.cell_count] = next[j];
    }
  }
}

}  // namespace halo::single_channel_adaptive
