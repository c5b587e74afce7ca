// The task of warpgroup.cu's third warpgroup: it copies.
#pragma once

#include "common/convolve/warpgroup/block.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Which filters a tile's pixels meet, of those of all groups; and where images have their own, of all of them.
template <int kPixels, class Pixels>
__device__ inline int filters_of(const WarpgroupTiles& tiles, int tile) {
  const int pixels = tile / tiles.groups, group = tile - pixels * tiles.groups.value;
  if constexpr (!kOfMatrices<Pixels>) return group;
  return pixels * kPixels / tiles.map * tiles.groups.value + group;
}

// One warpgroup copies pieces of both factors: filters in one run, by the copy engine.
template <int kFilters, int kPixels, int kParts, class Pixels>
__device__ void copy_pieces(Shared<kFilters, kPixels>& shared, Pixels pixels, const float* packed,
                            const LayerNumbers& layer, const WarpgroupTiles& tiles,
                            const Part<kParts>& part, int thread) {
  namespace ptx = cuda::ptx;
  constexpr int kFloats = Shared<kFilters, kPixels>::kFilterFloats,
                kBytes = kFloats * sizeof(float);
  constexpr int kChannels = Pixels::kChannels, kTogether = kWarpgroupChannels / kChannels;
  const int begin = part.begin(tiles.pieces), end = part.end(tiles.pieces);
  const int taps = layer.R * layer.S, first = begin * kTogether;
  const int first_c = first / taps * kChannels, first_r = first % taps / layer.S;
  const int first_s = first % taps % layer.S;
  Turn<Shared<kFilters, kPixels>::kStages> turn;
  for (int tile = part.first_tile(); tile < tiles.count; tile += part.clusters()) {
    const float* filters =
        packed +
        (static_cast<long long>(filters_of<kPixels, Pixels>(tiles, tile)) * tiles.pieces + begin) *
            kFloats;
    pixels.begin_tile(tile / tiles.groups * kPixels);
    int c = first_c, r = first_r, s = first_s;
    for (int piece = begin; piece < end; ++piece) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        pixels.find(i, c, r, s);  // while the place is still in use
        if (++s == layer.S) s = 0, ++r;
        if (r == layer.R) r = 0, c += kChannels;
      }
      std::uint64_t* const copied = &shared.copied[turn.place];
      wait_for_phase(&shared.used[turn.place], turn.parity ^ 1);
      if (thread == 0) {
        // (The pixels depend on no launch: other warps' are under way.)
        if constexpr (kOfMatrices<Pixels>) wait_for_launches_before();
        ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, copied,
                                kBytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared.filters[turn.place],
                           filters, kBytes, copied);
      }
      if constexpr (!kOfMatrices<Pixels>) {
        if (piece == begin) wait_for_launches_before();  // where calls overlap; filters are there
      }
      pixels.copy(shared.pixels[turn.place]);
      arrive_when_copied(copied);
      turn.next();
      filters += kFloats;
    }
  }
  // All blocks are there, and take all registers of their SMs: a launch like this one has only free SMs to begin on, and its
  // filters are on their way while these products end: up to a seventh less for a small layer. (What adds matrices' sums
  // has small blocks: they would crowd on the free SMs, and begin only with the last product.)
  if constexpr (!kOfMatrices<Pixels>) let_next_launch_begin();
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace halo::convolve
