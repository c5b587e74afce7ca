// How implicit_gemm.cu gets the quads of its reduction: from memory to a lane's registers, and from there to its warp's
// part of shared memory. (Straight into shared memory, by asynchronous copies, small layers took longer.)
//
//   a quad on chip    row 0..3  [kFilters] filters        a lane brings 16 bytes of either: four filters of a row; four
//                     row 0..3  [kColumns] cells          cells of a row (GemmCells::fours), or one of each row;
//                                                         where filters are not packed one of each row
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/implicit_gemm/division.hpp"

namespace halo::convolve {

// Where a lane's cells come from. What a layer does not need is left out of its kernel: a small layer runs one
// warp on a scheduler, and there each instruction before the first load takes four cycles.
enum class GemmCells {
  fours,  // 1 x 1, stride 1, no padding, channels and images in fours: four columns at once
  same,   // the same, but any image: an output lies where its cell does
  taps,   // any layer
};

// A lane's part of a quad; of 16 filters the upper lanes have none.
struct Quad {
  float4 filters, cells;
};

// A lane's filters, of one quad after the other.
template <int kFilters>
struct FilterQuads {
  static constexpr int kInRow = kFilters / 4;  // lanes for a row

  const int pitch;
  const float* next;

  __device__ FilterQuads(const float* packed,  // [R][S][C in quads][pitch]
                         const GemmShares& shares, int first_filter, int first_quad, int lane)
      : pitch(shares.pitch),
        next(packed + first_filter + lane % kInRow * 4 +
             static_cast<long long>(first_quad * kQuad + lane / kInRow) * shares.pitch) {}

  __device__ void fetch(Quad& quad, int lane) {
    if (lane < kFilters) quad.filters = *reinterpret_cast<const float4*>(next);
    next += kQuad * pitch;
  }
};

// The same of filters of 1 x 1 that are not packed: the lane has one filter, and four channels of it. The last filter stands for
// those that do not exist. kQuads: rows are whole quads.
template <int kFilters, bool kQuads>
struct UnpackedQuads {
  int channels;  // from `next` on
  const float* next;

  __device__ UnpackedQuads(const float* filters,  // [K][C]
                           const LayerNumbers& layer, int first_filter, int first_quad, int lane)
      : channels(layer.C - first_quad * kQuad),
        next(filters + static_cast<long long>(min(first_filter + lane, layer.K - 1)) * layer.C +
             first_quad * kQuad) {}

  __device__ void fetch(Quad& quad, int lane) {
    const bool has_one = lane < kFilters;
    if (kQuads) {
      if (has_one) quad.filters = *reinterpret_cast<const float4*>(next);
    } else {
      quad.filters = float4{};
      if (has_one) quad.filters.x = next[0];
      if (has_one && channels > 1) quad.filters.y = next[1];
      if (has_one && channels > 2) quad.filters.z = next[2];
      if (has_one && channels > 3) quad.filters.w = next[3];
      channels -= kQuad;
    }
    next += kQuad;
  }
};

// A lane's share of a tile's filters, packed or as they were given.
template <int kFilters, GemmCells kCells, bool kPacked>
__device__ auto filter_quads(const float* filters, const LayerNumbers& layer,
                             const GemmShares& shares, int first_filter, int first_quad, int lane) {
  if constexpr (kPacked) {
    return FilterQuads<kFilters>(filters, shares, first_filter, first_quad, lane);
  } else {
    constexpr bool kQuads = kCells != GemmCells::taps;
    return UnpackedQuads<kFilters, kQuads>(filters, layer, first_filter, first_quad, lane);
  }
}

// A lane's cells, of one quad after the other: always of the same column (or four), a channel or a quad of them further
// on each time. Columns that do not exist are the last ones once more: nobody stores them.
template <GemmCells kCells>
struct CellQuads {
  static constexpr bool kFours = kCells == GemmCells::fours, kTaps = kCells == GemmCells::taps;

  bool exists = true;        // the next quad's cell; else it is a ghost cell
  const float* const input;  // [N][C][H][W]
  const LayerNumbers& layer;
  const int map;            // cells of a channel
  int c, r = 0, s = 0;      // the next quad: its first channel, its tap
  int place, h = 0, w = 0;  // of the column's tap (0, 0) in channel 0: in the input, in the map
  const float* next;        // the next quad's first cell: one addition away from the last one's

  __device__ CellQuads(const float* of_input, const LayerNumbers& numbers, const GemmShares& shares,
                       int first_column, int first_quad, int lane)
      : input(of_input), layer(numbers), map(numbers.H * numbers.W) {
    const int m = kFours ? min(first_column + lane % 8 * 4, shares.columns - 4)
                         : min(first_column + lane, shares.columns - 1);
    const int n = m / shares.by_map;
    c = first_quad * kQuad + (kFours ? lane / 8 : 0);
    place = n * (layer.C - 1) * map + m;
    if (kTaps) {
      const int pq = m - n * layer.P * layer.Q, p = pq / shares.by_row;
      h = p * layer.stride_h - layer.padding_h;
      w = (pq - p * layer.Q) * layer.stride_w - layer.padding_w;
      place = n * layer.C * map + h * layer.W + w;
      const int tap = first_quad / shares.by_quads;
      c = (first_quad - tap * shares.quads_of_tap) * kQuad;
      r = tap / shares.by_filter_row;
      s = tap - r * layer.S;
    }
    go_to_channel(c);
  }

  __device__ void go_to_channel(int channel) {
    next = input + place + r * layer.W + s + channel * map;
    if (kTaps) exists = h + r >= 0 && h + r < layer.H && w + s >= 0 && w + s < layer.W;
  }

  __device__ void fetch(Quad& quad) {
    if (kFours) {
      quad.cells = *reinterpret_cast<const float4*>(next);
    } else if (!kTaps) {
      quad.cells = {next[0], next[map], next[2 * map], next[3 * map]};
    } else {  // rows after the last channel are zeros, as their filters are
      quad.cells = float4{};
      if (exists) quad.cells.x = next[0];
      if (exists && c + 1 < layer.C) quad.cells.y = next[map];
      if (exists && c + 2 < layer.C) quad.cells.z = next[2 * map];
      if (exists && c + 3 < layer.C) quad.cells.w = next[3 * map];
    }
    next += kQuad * map;
    if (kTaps && (c += kQuad) >= layer.C) {
      c = 0;
      if (++s == layer.S) s = 0, ++r;
      go_to_channel(0);
    }
  }
};

// A lane's part of a quad to where the warp's lanes read it: each number is for several of them.
template <int kFilters, GemmCells kCells, bool kPacked>
__device__ inline void put(const Quad& quad, float4* on_chip, int lane) {
  if (lane < kFilters && kPacked) on_chip[lane] = quad.filters;
  if (lane < kFilters && !kPacked) {
    float* const column = reinterpret_cast<float*>(on_chip) + lane;
    column[0] = quad.filters.x, column[kFilters] = quad.filters.y;
    column[2 * kFilters] = quad.filters.z, column[3 * kFilters] = quad.filters.w;
  }
  if (kCells == GemmCells::fours) {
    on_chip[kFilters + lane] = quad.cells;
  } else {
    float* const column = reinterpret_cast<float*>(on_chip + kFilters) + lane;
    column[0] = quad.cells.x, column[kColumns] = quad.cells.y;
    column[2 * kColumns] = quad.cells.z, column[3 * kColumns] = quad.cells.w;
  }
}

}  // namespace halo::convolve
