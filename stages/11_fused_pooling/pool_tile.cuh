// Step 3 of stage 11: what a thread does with its tile of outputs, whose windows overlap.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"

namespace halo::fused_pooling {

// Outputs [first_p][first_q] and its neighbours, kRows x kColumns, as far as they exist, of one channel
// of one image. kWindow is that of R = S = kWindow and strides 2, or 0 for any other layer. `inside`: all
// these outputs exist, and none of their windows reaches beyond an edge. The function becomes a part of
// its callers, so that the compiler knows what they say of `average` and `inside`.
//
// Each cell is read once, into a register, and joins every output whose window it is in. Which those
// are is known to the compiler where it knows the window: it unrolls all loops, the conditions on r
// and s are gone, and loads need not wait for one another. Where it does not, the results still are
// registers, since the loops over them are unrolled.
template <int kWindow, int kRows, int kColumns>
__device__ __forceinline__ void pool_tile(const float* cells,  // [H][W], N apart
                                          float* outputs,      // [P][Q], N apart
                                          const LayerNumbers& layer, bool average, bool inside,
                                          int first_p, int first_q) {
  const int R = kWindow > 0 ? kWindow : layer.R, stride_h = kWindow > 0 ? 2 : layer.stride_h;
  const int S = kWindow > 0 ? kWindow : layer.S, stride_w = kWindow > 0 ? 2 : layer.stride_w;
  const int rows = inside ? kRows : min(kRows, layer.P - first_p);
  const int columns = inside ? kColumns : min(kColumns, layer.Q - first_q);
  // The cells under them: the corner, which may be in the padding, and where the existing ones end.
  const int first_h = first_p * stride_h - layer.padding_h;
  const int first_w = first_q * stride_w - layer.padding_w;
  const int end_h = min(first_h + (rows - 1) * stride_h + R, layer.H);
  const int end_w = min(first_w + (columns - 1) * stride_w + S, layer.W);
  const int tile_rows = ((kWindow > 0 ? kRows : rows) - 1) * stride_h + R;
  const int tile_columns = ((kWindow > 0 ? kColumns : columns) - 1) * stride_w + S;
  const int row = layer.W * layer.N;  // from a cell to the one below

  float results[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < kRows * kColumns; ++i) {
    results[i / kColumns][i % kColumns] = average ? 0.0f : -INFINITY;
  }
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const int h = first_h + i;
    const bool has_row = inside || (h >= 0 && h < end_h);
#pragma unroll
    for (int j = 0; j < tile_columns; ++j) {
      const int w = first_w + j;
      const bool needed = has_row && (inside || (w >= 0 && w < end_w));
      // A ghost cell changes nothing that it joins.
      const float ghost = average ? 0.0f : -INFINITY;
      const float cell = needed ? cells[h * row + w * layer.N] : ghost;
#pragma unroll
      for (int e = 0; e < kRows; ++e) {
#pragma unroll
        for (int f = 0; f < kColumns; ++f) {
          const int r = i - e * stride_h;  // the cell's place in this output's window
          const int s = j - f * stride_w;
          if (r < 0 || r >= R || s < 0 || s >= S) continue;  // it is not in it
          results[e][f] = average ? results[e][f] + cell : fmaxf(results[e][f], cell);
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
          inside ? R * S : (min(h + R, layer.H) - max(h, 0)) * (min(w + S, layer.W) - max(w, 0));
      outputs[(first_p + e) * layer.Q * layer.N + (first_q + f) * layer.N] =
          average ? results[e][f] / static_cast<float>(count) : results[e][f];
    }
  }
}

}  // namespace halo::fused_pooling
