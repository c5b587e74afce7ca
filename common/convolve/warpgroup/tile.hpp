// What warpgroup.cu knows of a layer, and what it and the plan must agree on. Plain numbers: host and device both use
// them. plan.hpp says how a tile is chosen.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

// Outputs of a tile, of all images, numbered through over n, p and q: those of two warpgroups that multiply, or of one.
constexpr int kWarpgroupPixels = 128;
constexpr int kFewPixels = kWarpgroupPixels / 2;
// A piece of the sum: so many products. They are of one tap and 32 channels; where that leaves fewer zeros, of two taps or
// chunks of 16 channels each: 9 taps of 16 channels are 5 pieces. Of 3 channels the products are taken as they come: 49 taps
// are 5 pieces, too.
constexpr int kWarpgroupChannels = 32;
constexpr int kWarpgroupHalf = kWarpgroupChannels / 2;
// Of a block: two warpgroups or one multiply, one copies to shared memory, one stores.
constexpr int warpgroup_threads(int pixels) { return pixels / 64 * 128 + 2 * 128; }
// Of blocks with few pixels an SM holds two at a time, of others one.
constexpr int warpgroup_resident(int pixels) { return kWarpgroupPixels / pixels; }
// Floats on chip from one channel's pixels to the next one's, and from one filter's sums to the next one's: 24 and 4
// more, so that the rows which a warp reads or writes at a time have no bank conflicts.
constexpr int pixel_row(int pixels) { return pixels + 24; }
constexpr int sum_row(int pixels) { return pixels + 4; }
// Neighbours that a lane stores at once where maps are whole quads: a warp has a row of sums.
constexpr int most_at_once(int pixels) { return pixels / 32; }
// Rows of sums that each of four warps reads before it stores one of them: of the block's, which are whole such turns.
constexpr int store_ahead(int at_once, int rows) { return at_once > 1 && rows % 16 == 0 ? 4 : 2; }
// 1 x 1 filters on maps as they are find a tile's pixels of a channel in one run for each image. A run is copied in
// whole quads, those in which it begins and ends among them: up to 6 cells more. A row has room for four runs.
constexpr int kWarpgroupRuns = 4;
static_assert(kWarpgroupRuns * 6 <= pixel_row(0));
constexpr int most_runs(int map) { return (kWarpgroupPixels - 2) / map + 2; }

struct WarpgroupTile {
  int filters;    // 32, 64, 80, 96 or 128; with few pixels 32
  int parts = 1;  // of a sum's pieces, 1 or 2: those of a tile go to so many blocks, a cluster
  int pixels = kWarpgroupPixels;  // or kFewPixels
  // No second block comes to its SM: it asks for more than half of the shared memory, 228 KiB on Hopper.
  bool alone = false;

  // Floats on chip of a piece: its filters in two parts, and its pixels.
  constexpr int filter_floats() const { return 2 * filters * kWarpgroupChannels; }
  constexpr int piece_floats() const {
    return filter_floats() + kWarpgroupChannels * pixel_row(pixels);
  }
  // Pieces on chip, one in use and the others on their way: as many as a block has room for beside its sums.
  constexpr int stages() const { return filters <= 64 ? 5 : filters <= 96 ? 4 : 3; }
  // With two barriers for each piece and two for the sums.
  constexpr int shared_bytes() const {
    const int bytes =
        (stages() * piece_floats() + filters * sum_row(pixels)) * 4 + (stages() + 1) * 16;
    constexpr int kOverHalf = 116 * 1024;
    return alone && bytes < kOverHalf ? kOverHalf : bytes;
  }
};

// How pixels are copied to a piece: quads of a run of pixels, for 1 x 1 filters, or one by one; those in halves of a piece; or
// tap by tap of a channel. Or in quads, and each image has filters of its own: the factors are matrices of a transform, one
// for each frequency.
enum class WarpgroupPixelsBy { quads, one, halves, taps, matrices };
// That a piece has of each of its taps.
constexpr int channels_of(WarpgroupPixelsBy by) {
  return by == WarpgroupPixelsBy::taps     ? 1
         : by == WarpgroupPixelsBy::halves ? kWarpgroupHalf
                                           : kWarpgroupChannels;
}

// Of a layer: of outputs, each with all groups of filters. Those are neighbours, so that the second finds the pixels in
// the L2 cache.
struct WarpgroupTiles {
  int count = 0;
  int pieces = 0;  // of the sum of one output
  Divisor groups = 1;
  Divisor map = 1;  // outputs of an image and a filter
};

}  // namespace halo::convolve
