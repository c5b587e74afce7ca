// The sums of a tile of implicit_gemm.cu: how a warp makes them of quads on chip, and how those of all warps and blocks
// meet and are stored.
//
//   A warp's lanes stand 4 x 8. Two that are side by side read the same filters, or the same columns: then 16
//   bytes per lane take two passes through the banks instead of four. A lane has four columns of each of its filters.
//
//     columns          0-3  4-7  8-11   ...   28-31
//     filters  0-3       0    1    4    5    8    9   12   13
//              4-7       2    3    6    7   10   11   14   15
//              8-11     16   17   20   21   24   25   28   29
//             12-15     18   19   22   23   26   27   30   31      and of a tile of 32 filters 16-31 in the same way
#pragma once

#include <type_traits>

#include "common/convolve/cluster.cuh"
#include "common/convolve/implicit_gemm/division.hpp"
#include "common/convolve/implicit_gemm/quads.cuh"

namespace halo::convolve {

__device__ inline int row_of(int lane) { return (lane >> 1 & 1) | (lane >> 4) << 1; }
__device__ inline int column_of(int lane) { return (lane & 1) | (lane >> 2 & 3) << 1; }
// Filter i of a lane's, in its tile.
__device__ inline int filter_of(int lane, int i) { return i / 4 * 16 + row_of(lane) * 4 + i % 4; }

// Adds to the lane's sums `count` quads, as put() leaves them: its filters of the first row begin at a, its cells at b.
template <int kF>
__device__ inline void multiply(const float4* a, const float4* b, int count, float (&sums)[kF][4]) {
  float4 taps[2][kF / 4], cells[2];  // of one row of the reduction, and of the next
  const auto read = [&](int which, const float4* from_a, const float4* from_b) {
#pragma unroll
    for (int i = 0; i < kF / 4; ++i) taps[which][i] = from_a[4 * i];
    cells[which] = *from_b;
  };
  read(0, a, b);
#pragma unroll 1
  for (int quad = 1; quad <= count; ++quad) {
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      // The next row is read while this one is multiplied; after the last one, that one again.
      if (i + 1 < kQuad) {
        read((i + 1) % 2, a + (i + 1) * kF, b + (i + 1) * kColumns / 4);
      } else {
        const int step = quad < count ? 4 * kF + kColumns : 0;
        read(0, a += step, b += step);
      }
      const float* const tap = reinterpret_cast<const float*>(taps[i % 2]);
      const float* const cell = reinterpret_cast<const float*>(&cells[i % 2]);
#pragma unroll
      for (int k = 0; k < kF; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[k][j] += tap[k] * cell[j];
      }
    }
  }
}

// On chip a tile's sums lie row by row, [kFilters][kColumns]; of every other four rows the halves are exchanged, so
// that the two rows which lanes of one pass store have no bank conflicts.
__device__ inline int half_of(int row) { return row & 4; }

template <int kF>
__device__ inline void put_sums(const float (&sums)[kF][4], float4* tile, int lane) {
#pragma unroll
  for (int i = 0; i < kF; ++i) {
    const int row = filter_of(lane, i);
    tile[row * 8 + (column_of(lane) ^ half_of(row))] = *reinterpret_cast<const float4*>(sums[i]);
  }
}

__device__ inline float4 operator+(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__device__ inline float4 sum_of(const float4* parts, int pitch, int count) {
  float4 sum = parts[0];
#pragma unroll 8
  for (int i = 1; i < count; ++i) sum = sum + parts[i * pitch];
  return sum;
}

// Where a tile's outputs go.
struct GemmOutputs {
  float* const output;  // [N][K][P][Q]
  const bool relu;
  const LayerNumbers& layer;
  const GemmShares& shares;
  const int first_filter, first_column;  // of the tile
};

// Adds up `count` parts of a tile's rows first_row ... first_row + rows - 1, of which there are at most kMost, in
// their order, which gives the same bits each time, and stores them by units: float4 or float. All of a thread's sums
// come before its first store: one after the other each would wait for its own reads.
template <class Unit, int kMost, int kThreads>
__device__ inline void add_up_and_store(const Unit* parts,  // [count][pitch], of it rows * kRow
                                        int pitch, int count, int first_row, int rows,
                                        const GemmOutputs& to) {
  constexpr int kWidth = sizeof(Unit) / sizeof(float), kRow = kColumns / kWidth;
  constexpr int kStep = kThreads / kRow, kTurns = (kMost + kStep - 1) / kStep;
  const int unit = threadIdx.x % kRow, own_row = threadIdx.x / kRow;
  Unit of_turn[kTurns] = {};
#pragma unroll(kTurns < 4 ? 4 / kTurns : 1)
  for (int part = 0; part < count; ++part) {
#pragma unroll
    for (int i = 0; i < kTurns; ++i) {
      const int at = own_row + i * kStep;
      if (at < rows) {
        const int place = unit ^ half_of(first_row + at) * kRow / 8;
        of_turn[i] = of_turn[i] + parts[part * pitch + at * kRow + place];
      }
    }
  }
  const int column = to.first_column + unit * kWidth;
  if (column >= to.shares.columns) return;
  const int area = to.layer.P * to.layer.Q, k = to.first_filter + first_row + own_row;
  const float lowest = to.relu ? 0.0f : -INFINITY;
#pragma unroll
  for (int i = 0; i < kTurns * kWidth; ++i) {
    float& sum = reinterpret_cast<float*>(of_turn)[i];
    if (sum < lowest) sum = lowest;  // not fmaxf, which turns a NaN into a number
  }
  float* const first =
      to.output + (column / to.shares.by_map * (to.layer.K - 1) + k) * area + column;
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    if (own_row + i * kStep < rows && k + i * kStep < to.layer.K) {
      *reinterpret_cast<Unit*>(first + i * kStep * area) = of_turn[i];
    }
  }
}

// The same of the block's warps, to registers: float4 `at` of the sums is turn at / kThreads of thread at % kThreads.
template <int kTile4, int kSlice4, int kSlices, int kTurns>
__device__ inline void add_up_slices(const float4* tiles,  // [kSlices][kSlice4], of it kTile4
                                     float4 (&of_turn)[kTurns]) {
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int at = i * kSlices * kWarpSize + threadIdx.x;
    if (at < kTile4) of_turn[i] = sum_of(tiles + at, kSlice4, kSlices);
  }
}

}  // namespace halo::convolve
