// What fourier.cu and fourier_split.cu know of a layer. Plain numbers: host and device both use them. plan.hpp says how
// they are chosen.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

/// Tiles are 16 x 16 or 32 x 32 cells.
constexpr int kFourierSizes[] = {16, 32};

/// Complex numbers that stand for a tile of size x size real cells.
constexpr int fourier_frequencies(int size) { return size * size / 2 + 2; }

/// Threads of a block that transforms, and its tiles: each warp has two for every `size` lanes.
constexpr int kFourierThreads = 128;
constexpr int fourier_block_tiles(int size) { return 2 * kFourierThreads / size; }

/// Rows of transformed numbers are rounded up to so many: the tiles of a block of either size.
constexpr int kFourierPitch = 16;

/// Of the products: channels that come on chip together, a chunk; and blocks of side x side filters and tiles, 64
/// or 32. A thread has 8 filters and so many tiles; the larger block reads less for each product, the smaller one
/// wastes less where filters or tiles are few.
constexpr int kFourierChannels = 16;
constexpr int fourier_own_tiles(int side) { return side / 8; }
constexpr int fourier_product_threads(int side) { return side; }
/// Blocks of an SM, so many that their registers are what is left.
constexpr int fourier_resident(int side) { return side == 64 ? 4 : 12; }

/// Of the products on tensor cores (fourier_split.cu): chunks on chip, blocks of 64 or 32 filters and so many tiles,
/// with 2 * filters threads, and how many of them an SM has, whose registers are what is left. Rows on chip have so many
/// pieces of 16 bytes more that eight lanes that read together find theirs in different banks.
constexpr int kSplitStages = 3, kSplitTiles = 64;
constexpr int fourier_split_resident(int filters) { return 128 / filters; }
constexpr int kSplitFilterMore = 2, kSplitTileMore = 1;
constexpr int fourier_split_bytes(int filters) {
  return kSplitStages * kFourierChannels * 16 *
         (filters / 2 + kSplitFilterMore + kSplitTiles / 2 + kSplitTileMore);
}

struct FourierDivision {
  int size;                          // 16 or 32: cells of a tile, each way
  int outputs_down, outputs_across;  // of a tile: size - R + 1, size - S + 1
  Divisor tiles_down, tiles_across;  // of an image
  int images;        // that are computed together: a slice; the last one may have fewer
  int tile_pitch;    // the tiles of a slice, rounded up
  int filter_pitch;  // the filters, likewise
  int side;          // of a block of the products: 32 or 64; on tensor cores: its filters
};

}  // namespace halo::convolve
