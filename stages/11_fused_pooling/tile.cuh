// What a thread does that has several neighbouring outputs. The steps 3 and 4 include it: they differ
// in which outputs a thread has, and in how far apart the cells of an image lie.
#pragma once

#include "stages/11_fused_pooling/fused_pooling.hpp"
#include "stages/11_fused_pooling/window.cuh"

namespace halo::fused_pooling {

// One channel of one image, or of its output, in any layout: cell [h][w] is
// cells[h * row + w * column].
template <class Cell>
struct Plane {
  Cell* cells;
  int row, column;
};

// [doc:tile]
// Computes outputs [first_p][first_q] and its neighbours, kRows x kColumns, as far as they exist.
// kWindow is that of R = S = kWindow and strides 2, or 0 for any other layer. kInside: all outputs
// exist and none of their windows reaches beyond an edge.
//
// Each cell is read once, into a register, and joins every output whose window it is in. Which those
// are is known to the compiler where it knows the window: it unrolls all loops, the conditions on r
// and s are gone, and loads need not wait for one another. Where it does not, the results still are
// registers, since the loops over them are unrolled.
template <bool kAverage, int kWindow, bool kInside, int kRows, int kColumns>
__device__ inline void pool_tile(const Plane<const float>& input, const Plane<float>& output,
                                 const Layer& layer, int first_p, int first_q) {
  const int R = kWindow > 0 ? kWindow : layer.R;
  const int S = kWindow > 0 ? kWindow : layer.S;
  const int stride_h = kWindow > 0 ? 2 : layer.stride_h;
  const int stride_w = kWindow > 0 ? 2 : layer.stride_w;
  const int rows = kInside ? kRows : min(kRows, layer.P - first_p);
  const int columns = kInside ? kColumns : min(kColumns, layer.Q - first_q);

  const int tile_rows = ((kWindow > 0 ? kRows : rows) - 1) * stride_h + R;
  const int tile_columns = ((kWindow > 0 ? kColumns : columns) - 1) * stride_w + S;
  // The corner of the cells under them, which may be in the padding; and where those end that exist and
  // are needed.
  const int first_h = first_p * stride_h - layer.padding_h;
  const int first_w = first_q * stride_w - layer.padding_w;
  const int end_h = min(first_h + (rows - 1) * stride_h + R, layer.H);
  const int end_w = min(first_w + (columns - 1) * stride_w + S, layer.W);

  float results[kRows][kColumns];
#pragma unroll
  for (int e = 0; e < kRows; ++e) {
#pragma unroll
    for (int f = 0; f < kColumns; ++f) results[e][f] = nothing<kAverage>();
  }
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const int h = first_h + i;
    const bool has_row = kInside || (h >= 0 && h < end_h);
#pragma unroll
    for (int j = 0; j < tile_columns; ++j) {
      const int w = first_w + j;
      const bool needed = has_row && (kInside || (w >= 0 && w < end_w));
      const float cell =
          needed ? input.cells[h * input.row + w * input.column] : nothing<kAverage>();
#pragma unroll
      for (int e = 0; e < kRows; ++e) {
#pragma unroll
        for (int f = 0; f < kColumns; ++f) {
          // The cell's place in this output's window, if it is in it.
          const int r = i - e * stride_h;
          const int s = j - f * stride_w;
          if (r < 0 || r >= R || s < 0 || s >= S) continue;
          results[e][f] = joined<kAverage>(results[e][f], cell);
        }
      }
    }
  }

#pragma unroll
  for (int e = 0; e < kRows; ++e) {
#pragma unroll
    for (int f = 0; f < kColumns; ++f) {
      if (e >= rows || f >= columns) continue;
      const int h = first_h + e * stride_h;
      const int w = first_w + f * stride_w;
      const int count =
          kInside ? R * S : (min(h + R, layer.H) - max(h, 0)) * (min(w + S, layer.W) - max(w, 0));
      output.cells[(first_p + e) * output.row + (first_q + f) * output.column] =
          finished<kAverage>(results[e][f], count);
    }
  }
}
// [/doc:tile]

}  // namespace halo::fused_pooling
