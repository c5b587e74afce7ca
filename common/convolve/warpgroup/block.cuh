// What a block of warpgroup.cu has on chip, and how its warpgroups take turns.
//
//   copying         waits for used[place],    fills a place,            arrives at copied[place]
//   multiplying     wait for copied[place],   multiply what is there,   arrive at used[place]
//                   wait for stored,          leave a tile's sums,      arrive at summed
//   storing         waits for summed,         stores them,              arrives at stored
//
// Two warpgroups multiply; of a tile of 64 outputs one.
// Two blocks that have a part of each sum are a cluster: each stores half of the filters, adding what the other has left
// on chip, so both arrive at the barriers of both.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "common/convolve/warpgroup/pixels.cuh"
#include "common/convolve/warpgroup/tile.hpp"
#include "common/harness/kernel.h"
#include "common/harness/warpgroup.h"

namespace halo::convolve {

// Warpgroups, the first of a block.
template <int kPixels>
constexpr int kMultiplying = kPixels / 64;
constexpr int kWarps = kWarpgroup / kWarpSize;
constexpr int kDepth = 8;  // products of a sum that one instruction adds
constexpr int kSteps = kWarpgroupChannels / kDepth;

// What a block has on chip, and who waits for what. All tasks meet pieces and tiles in the same order.
template <int kFilters, int kPixels>
struct Shared {
  static constexpr WarpgroupTile kTile{.filters = kFilters, .pixels = kPixels};
  static constexpr int kStages = kTile.stages();
  static constexpr int kFilterFloats = kTile.filter_floats();
  static constexpr int kBytes = kTile.shared_bytes();
  float filters[kStages][kSteps][2][kFilters * kDepth];  // big parts, then small ones
  PixelRow<kPixels> pixels[kStages][kWarpgroupChannels];
  float sums[kFilters][sum_row(kPixels)];
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

// Which of its cluster's blocks, one or two, this one is.
template <int kParts>
struct Part {
  int own = 0;
  __device__ Part() {
    if constexpr (kParts > 1) own = cooperative_groups::cluster_group::block_rank();
  }
  // Where its share of so many begins, and the next one's.
  __device__ int begin(int all) const { return all * own / kParts; }
  __device__ int end(int all) const { return all * (own + 1) / kParts; }
  // A cluster has every so manieth tile, beginning with this one.
  __device__ static int first_tile() { return blockIdx.x / kParts; }
  __device__ static int clusters() { return gridDim.x / kParts; }

  // At a barrier of each block of the cluster, and for those who do so at the own one.
  __device__ static void arrive_at_all(std::uint64_t* barrier) {
    if constexpr (kParts == 1) {
      arrive(barrier);
    } else {
#pragma unroll
      for (int block = 0; block < kParts; ++block) arrive_in_cluster(barrier, block);
    }
  }
  __device__ static void wait_for_all(std::uint64_t* barrier, int parity) {
    kParts == 1 ? wait_for_phase(barrier, parity) : wait_for_phase_of_cluster(barrier, parity);
  }
};

template <class Pixels>
constexpr bool kOfMatrices = false;
template <int kPixels>
constexpr bool kOfMatrices<MatrixPixels<kPixels>> = true;

}  // namespace halo::convolve
