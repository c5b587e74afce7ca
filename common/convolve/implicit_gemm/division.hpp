// What implicit_gemm.cu and its plans must agree on: plain numbers, of which host and device both make use. How a plan is
// chosen, plan.hpp says.
//
// The product is output[k][m] = sum over (r, s, c) of filters[k][r, s, c] * cells[r, s, c][m], with the
// columns m = (n*P + p)*Q + q. The reduction is cut into quads, four channels of one tap; the last quad
// of a tap is filled up with zeros.
#pragma once

#include <cstdint>

#include "common/harness/divisor.h"
#include "common/harness/kernel.h"

namespace halo::convolve {

// Rows of the reduction that are handled together.
constexpr int kQuad = 4;
constexpr int kColumns = 32;    // of a tile
constexpr int kMostSplit = 16;  // blocks of a cluster

struct GemmPlan {
  int filters;  // of a tile of 32 columns: 16 or 32
  int slices;   // warps of a block; each has the whole tile for its own part of the reduction
  int split;    // blocks of a cluster, which share the reduction of one tile: 1, 2, 4, 8 or 16
  bool packed = true;  // else it reads filters of 1 x 1 as they are
  bool operator==(const GemmPlan&) const = default;
};

// Numbers of the product that everybody needs.
inline int columns_of(const LayerNumbers& layer) { return layer.N * layer.P * layer.Q; }
inline int quads_of_tap(const LayerNumbers& layer) { return (layer.C + kQuad - 1) / kQuad; }
inline std::int64_t quads_of(const LayerNumbers& layer) {
  return std::int64_t{layer.R} * layer.S * quads_of_tap(layer);
}
// Filters from one row of the packed filters to the next, whole pieces of 16 bytes.
inline int packed_row(const LayerNumbers& layer) { return (layer.K + 3) / 4 * 4; }
// Packed filters: [R][S][C filled up to quads][packed_row], and a tile's worth after them, since the
// last tile reads on.
inline std::int64_t gemm_packed_floats(const LayerNumbers& layer) {
  return kQuad * quads_of(layer) * packed_row(layer) + 32;
}
// An output lies where its cell does, and the channels are whole quads.
inline bool is_pointwise(const LayerNumbers& l) {
  return l.R * l.S == 1 && l.stride_h == 1 && l.stride_w == 1 && l.padding_h == 0 &&
         l.padding_w == 0 && l.C % kQuad == 0;
}
// Whether a lane can bring four neighbouring columns by 16 bytes: images in multiples of four cells, too.
inline bool columns_in_fours(const LayerNumbers& layer) {
  return is_pointwise(layer) && layer.H * layer.W % 4 == 0;
}

// How a plan falls on a layer.
inline int quads_of_slice(const LayerNumbers& layer, const GemmPlan& plan) {
  const int parts = plan.slices * plan.split;
  return static_cast<int>((quads_of(layer) + parts - 1) / parts);
}
// What the host works out for all threads.
struct GemmShares {
  int columns, quads, quads_of_tap, quads_of_slice;
  int pitch;       // of a row of packed filters
  int share_bits;  // of a tile each block of a cluster adds up and stores 2^share_bits float4
  Divisor by_map, by_row, by_quads, by_filter_row;
};
inline GemmShares shares_of(const LayerNumbers& layer, const GemmPlan& plan) {
  GemmShares shares{.columns = columns_of(layer),
                    .quads = static_cast<int>(quads_of(layer)),
                    .quads_of_tap = quads_of_tap(layer),
                    .quads_of_slice = quads_of_slice(layer, plan),
                    .pitch = packed_row(layer),
                    .share_bits = 0,
                    .by_map = layer.P * layer.Q,
                    .by_row = layer.Q,
                    .by_quads = quads_of_tap(layer),
                    .by_filter_row = layer.S};
  while ((plan.filters * kColumns / 4 / plan.split) >> (shares.share_bits + 1)) ++shares.share_bits;
  return shares;
}
// Of a block, in bytes: four quads of rows for each slice, and where blocks of a cluster meet a tile of sums and a
// barrier.
inline int shared_bytes(const GemmPlan& plan) {
  const int sums = plan.split > 1 ? plan.filters * kColumns / 4 + 1 : 0;
  return 16 * (plan.slices * 4 * (plan.filters + kColumns) + sums);
}

}  // namespace halo::convolve
