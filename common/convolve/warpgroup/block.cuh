// What a block of warpgroup.cu has on chip, and how its warpgroups take turns.
//
//   copying         waits for used[place],    fills a place,            arrives at copied[place]
//   two multiply    wait for copied[place],   multiply what is there,   arrive at used[place]
//                   wait for stored,          leave a tile's sums,      arrive at summed
//   storing         waits for summed,         stores them,              arrives at stored
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/warpgroup/pixels.cuh"
#include "common/convolve/warpgroup/tile.hpp"
#include "common/harness/kernel.h"
#include "common/harness/warpgroup.h"

namespace halo::convolve {

constexpr int kMultiplying = 2;  // warpgroups, the first of a block
constexpr int kWarps = kWarpgroup / kWarpSize;
constexpr int kDepth = 8;  // products of a sum that one instruction adds
constexpr int kSteps = kWarpgroupChannels / kDepth;

// What a block has on chip, and who waits for what. All tasks meet pieces and tiles in the same order.
template <int kFilters>
struct Shared {
  static constexpr int kStages = WarpgroupTile{kFilters}.stages();
  static constexpr int kFilterFloats = WarpgroupTile{kFilters}.filter_floats();
  static constexpr int kBytes = WarpgroupTile{kFilters}.shared_bytes();
  float filters[kStages][kSteps][2][kFilters * kDepth];  // big parts, then small ones
  PixelRow pixels[kStages][kWarpgroupChannels];
  float sums[kFilters][kWarpgroupSumRow];
  std::uint64_t copied[kStages], used[kStages];
  std::uint64_t summed, stored;
};

// Where a piece is on chip, and the parity of the phase in which it comes there.
template <int kPlaces>
struct Turn {
  int place = 0, parity = 0;
  __device__ void next() {
    if (++place == kPlaces) place = 0, parity ^= 1;
  }
};

__device__ inline int pieces_of(const LayerNumbers& layer) {
  return layer.R * layer.S * ((layer.C - 1) / kWarpgroupChannels + 1);
}

}  // namespace halo::convolve
