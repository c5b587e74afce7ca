// Stage 08, step 6: the transforms of Winograd's F(2 x 2, 3 x 3). With filters g of 3 x 3 taps and tiles d of 4 x 4 cells,
// 2 x 2 outputs are A^T (G g G^T * B^T d B) A, where * multiplies place by place:
//
//   B^T =  1  0 -1  0     G =   1    0    0     A^T =  1  1  1  0
//          0  1  1  0          1/2  1/2  1/2           0  1 -1 -1
//          0 -1  1  0          1/2 -1/2  1/2
//          0  1  0 -1           0    0    1
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::multi_channel_stride_fixed {

// A block's filters and tiles; channels of a segment; places of a transformed tile.
constexpr int kTileFilters = 32, kTiles = 32, kChannels = 8, kPlaces = 16;
constexpr int kHalf = kTileFilters / 2, kThreads = 256;

// G of three taps.
__device__ inline void transform_taps(float g0, float g1, float g2, float (&to)[4]) {
  to[0] = g0, to[1] = (g0 + g1 + g2) / 2, to[2] = (g0 - g1 + g2) / 2, to[3] = g2;
}

// B^T of four cells that are `step` apart.
__device__ inline void transform_cells(float* d, int step) {
  const float d1 = d[step], d2 = d[2 * step];
  d[0] -= d2, d[step] = d1 + d2, d[2 * step] = d2 - d1, d[3 * step] = d1 - d[3 * step];
}

// A^T m A of the 16 sums from m on, `step` apart: 2 x 2 outputs, which begin in row p and column q of a map.
__device__ inline void store_outputs(const float* m, int step, float* to, const LayerNumbers& layer,
                                     int p, int q) {
  float y[2][4];  // A^T m
#pragma unroll
  for (int j = 0; j < 4; ++j, m += step) {
    y[0][j] = m[0] + m[4 * step] + m[8 * step];
    y[1][j] = m[4 * step] - m[8 * step] - m[12 * step];
  }
#pragma unroll
  for (int i = 0; i < 2; ++i, to += layer.Q) {
    if (p + i >= layer.P) break;
    to[0] = y[i][0] + y[i][1] + y[i][2];
    if (q + 1 < layer.Q) to[1] = y[i][1] - y[i][2] - y[i][3];
  }
}

}  // namespace halo::multi_channel_stride_fixed
