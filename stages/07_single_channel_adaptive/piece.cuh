// What a block does with a piece, whoever divided the work: bring it on chip, compute it. All
// variants of this stage include it.
#pragma once

#include "common/data/gpu_figures.hpp"
#include "stages/07_single_channel_adaptive/single_channel.hpp"

namespace halo::single_channel {

using data::kAhead;
using data::kBlocksPerSm;
using data::kThreadsPerBlock;

// Rows of outputs and filters that are computed together. Ends are exclusive.
struct Piece {
  int first_row, last_row;
  int first_filter, last_filter;
};

// The row of the map with which the outputs of row `row` begin, as far as such a row exists.
__device__ inline int map_row(const Layer& layer, int row) {
  return min(max(row - layer.padding_h, 0), layer.H);
}

// What has to come from global memory: neighbouring cells of the map, neighbouring taps of filters.
struct Arrivals {
  const float* cells;  // [cell_count]
  int cell_count;
  const float* taps;  // [tap_count]
  int tap_count;
};

__device__ inline Arrivals cells_of(const Layer& layer, const Piece& piece,
                                    const float* map) {  // [H][W]
  const int top = map_row(layer, piece.first_row);
  const int bottom = map_row(layer, piece.last_row - 1 + layer.R);
  return {map + top * layer.W, (bottom - top) * layer.W, nullptr, 0};
}

__device__ inline void add_taps(Arrivals& arrivals, const Layer& layer, const Piece& piece,
                                const float* filters) {  // [K][R][S]
  arrivals.taps = filters + piece.first_filter * layer.R * layer.S;
  arrivals.tap_count = (piece.last_filter - piece.first_filter) * layer.R * layer.S;
}

// The first piece: nothing can be computed yet, so nothing is hidden.
__device__ inline void load(const Arrivals& arrivals, float* cells, float* taps) {
  for (int i = threadIdx.x; i < arrivals.cell_count; i += kThreadsPerBlock) {
    cells[i] = arrivals.cells[i];
  }
  for (int i = threadIdx.x; i < arrivals.tap_count; i += kThreadsPerBlock) {
    taps[i] = arrivals.taps[i];
  }
}

// [doc:ahead]
// The next pieces: into registers now, on chip when the present piece is done. Nobody waits for a
// load until its register is used. (__pipeline_memcpy_async would need no registers, but a second
// buffer in shared memory: pieces of half the size. The paper's D is one piece, and its GPU has no
// such copy.)
__device__ inline void fetch(const Arrivals& arrivals, float (&next)[kAhead]) {
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {  // known when it is compiled, so that next is in registers
    const int i = j * kThreadsPerBlock + threadIdx.x;
    if (i < arrivals.cell_count) {
      next[j] = arrivals.cells[i];
    } else if (i - arrivals.cell_count < arrivals.tap_count) {
      next[j] = arrivals.taps[i - arrivals.cell_count];
    }
  }
}

__device__ inline void put(const Arrivals& arrivals, const float (&next)[kAhead], float* cells,
                           float* taps) {
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {
    const int i = j * kThreadsPerBlock + threadIdx.x;
    if (i < arrivals.cell_count) {
      cells[i] = next[j];
    } else if (i - arrivals.cell_count < arrivals.tap_count) {
      taps[i - arrivals.cell_count] = next[j];
    }
  }
}
// [/doc:ahead]

// [doc:compute]
// All outputs of a piece. Neighbouring threads have neighbouring pixels, which lie side by side in
// memory, row after row; a warp has one filter at a time, so that it reads a tap as one broadcast.
// Where a piece has fewer pixels than the block has threads, warps share its filters. As Chen et
// al. (2017), whom the paper follows, a thread keeps the cells of its window in registers and goes
// through all filters with them.
template <int kSize>  // rows and columns of the filters: 1, 3 or 5; 0: any, and no window
__device__ void compute(const Layer& layer, const Piece& piece,
                        const float* cells,  // shared, [rows of the map][W]
                        const float* taps,   // shared, [filters of the piece][R][S]
                        float* output) {     // [K][P][Q]
  const int pixels = (piece.last_row - piece.first_row) * layer.Q;
  const int filters = piece.last_filter - piece.first_filter;
  const int pixel_threads = min(kThreadsPerBlock, (pixels + 31) / 32 * 32);
  const int filter_threads = min(kThreadsPerBlock / pixel_threads, filters);
  const int filter_thread = threadIdx.x / pixel_threads;
  if (filter_thread >= filter_threads) return;  // warps left over: idle

  const int top = map_row(layer, piece.first_row);
  for (int pixel = threadIdx.x % pixel_threads; pixel < pixels; pixel += pixel_threads) {
    const int y = piece.first_row + pixel / layer.Q - layer.padding_h;  // of the window's corner
    const int x = pixel % layer.Q - layer.padding_w;
    float* out = output + (piece.first_filter * layer.P + piece.first_row) * layer.Q + pixel;
    const int plane = layer.P * layer.Q;

    if constexpr (kSize > 0) {
      float window[kSize * kSize];
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i) {
        const int row = y + i / kSize;
        const int column = x + i % kSize;
        const bool exists = row >= 0 && row < layer.H && column >= 0 && column < layer.W;
        window[i] = exists ? cells[(row - top) * layer.W + column] : 0.0f;
      }
      for (int f = filter_thread; f < filters; f += filter_threads) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kSize * kSize; ++i) sum += window[i] * taps[f * kSize * kSize + i];
        out[f * plane] = sum;
      }
    } else {
      for (int f = filter_thread; f < filters; f += filter_threads) {
        float sum = 0.0f;
        for (int r = 0; r < layer.R; ++r) {
          if (y + r < 0 || y + r >= layer.H) continue;
          for (int s = 0; s < layer.S; ++s) {
            if (x + s < 0 || x + s >= layer.W) continue;
            sum += cells[(y + r - top) * layer.W + x + s] * taps[(f * layer.R + r) * layer.S + s];
          }
        }
        out[f * plane] = sum;
      }
    }
  }
}
// [/doc:compute]

}  // namespace halo::single_channel
