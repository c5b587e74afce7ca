// The task of warpgroup.cu's first warpgroups, two or one: they multiply.
#pragma once

#include "common/convolve/warpgroup/block.cuh"
#include "common/harness/overlap.h"
#include "common/harness/tf32.h"

namespace halo::convolve {

// Two warpgroups multiply, or one, each 64 of the tile's pixels.
//
// Tensor cores truncate sums instead of rounding them, always towards zero, and with each instruction once more. So the
// sums of a piece are added to others, by additions that round; and of a piece the small products come first, while
// there is nothing large that they could be cut off at.
template <class Pixels, int kFilters, int kPixels, int kParts>
__device__ void multiply_pieces(Shared<kFilters, kPixels>& shared, const LayerNumbers& layer,
                                const WarpgroupTiles& tiles, const Part<kParts>& part, int thread) {
  constexpr int kSums = kFilters / 2;
  const int pieces = part.end(tiles.pieces) - part.begin(tiles.pieces);
  const int lane = thread % kWarpSize, g = lane / 4, t = lane % 4;
  const int first_pixel = thread / kWarpSize * 16 + g;
  Turn<Shared<kFilters, kPixels>::kStages> turn;
  int parity = 1;  // of the tile whose sums were stored
  for (int tile = part.first_tile(); tile < tiles.count; tile += part.clusters()) {
    const int tile_pixel = tile / tiles.groups * kPixels;
    const int column[] = {Pixels::column(layer, tiles.map, tile_pixel, first_pixel, t),
                          Pixels::column(layer, tiles.map, tile_pixel, first_pixel + 8, t)};
    float sums[kSums] = {}, recent[kSums] = {};
    std::uint64_t* used = nullptr;
    const auto end_products = [&] {
      wait_for_products();
      __syncwarp();
      if (used != nullptr && lane == 0) arrive(used);
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] += recent[i];
    };
    for (int piece = 0; piece < pieces; ++piece) {
      wait_for_phase(&shared.copied[turn.place], turn.parity);
      float pixels[kSteps][4];
#pragma unroll
      for (int i = 0; i < kSteps * 4; ++i) {
        const int c = i / 4 * kDepth + i % 4 / 2 * 4 + t;
        pixels[i / 4][i % 4] = shared.pixels[turn.place][c][column[i % 2]];
      }
      end_products();
      used = &shared.used[turn.place];
      std::uint32_t big[kSteps][4], small[kSteps][4];
#pragma unroll
      for (int i = 0; i < kSteps * 4; ++i) {
        const Tf32Parts parts = tf32_parts(pixels[i / 4][i % 4]);
        big[i / 4][i % 4] = parts.big, small[i / 4][i % 4] = parts.small;
      }
      const std::uint64_t filters = shared_matrix(shared.filters[turn.place]);
      const auto part_of = [&](int step, int part) {
        return behind(filters, (2 * step + part) * kFilters * kDepth * 4);
      };
      // [doc:products]
      begin_products();
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        multiply_tf32_warpgroup<kFilters>(recent, small[step], part_of(step, 0), step > 0);
        multiply_tf32_warpgroup<kFilters>(recent, big[step], part_of(step, 1), true);
      }
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        multiply_tf32_warpgroup<kFilters>(recent, big[step], part_of(step, 0), true);
      }
      commit_products();
      // [/doc:products]
      turn.next();
    }
    end_products();

    part.wait_for_all(&shared.stored, parity);
    parity ^= 1;
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      shared.sums[i / 4 * 8 + 2 * t + i % 2][first_pixel + i / 2 % 2 * 8] = sums[i];
    }
    __syncwarp();
    if (lane == 0) part.arrive_at_all(&shared.summed);
  }
  if constexpr (kOfMatrices<Pixels>) let_next_launch_begin();  // what adds: see copying.cuh
}

}  // namespace halo::convolve
