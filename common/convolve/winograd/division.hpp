// What winograd.cu and winograd_apart.cu know of a layer, and the shapes of blocks that they are compiled for. Plain
// numbers: host and device both use them. plan.hpp says how they are chosen.
#pragma once

#include "common/convolve/warpgroup/tile.hpp"
#include "common/harness/divisor.h"

namespace halo::convolve {

// What a block computes: outputs x outputs for each of its tiles and filters, from filters of taps x taps.
struct WinogradShape {
  int outputs, taps;
  int filters, tiles;  // of a block
  int channels;        // that come on chip together: a chunk
  int warps;
  int filter_buffers;  // 2 or 3 chunks of filters on chip

  constexpr int cells() const { return outputs + taps - 1; }  // of a tile of input, each way
  constexpr int frequencies() const { return cells() * cells(); }
  // Floats on chip: chunks of filters, two of transformed inputs and two of patches. In their place come the sums, eight
  // more for each frequency, and after these the outputs that the block adds up; after all a barrier.
  constexpr int pairs() const { return filters * tiles; }
  constexpr int sums() const { return frequencies() * (pairs() + 8); }
  constexpr int parts() const { return outputs * outputs * pairs(); }
  constexpr int to_barrier() const {
    const int pipeline = frequencies() * channels * (filter_buffers * filters + 4 * tiles);
    return pipeline > sums() + parts() ? pipeline : sums() + parts();
  }
  constexpr int on_chip() const { return to_barrier() + 2; }
  bool operator==(const WinogradShape&) const = default;
};

// More filters a block: each transform of inputs serves more of them. More tiles: each filter that is read
// serves more of them. All sums of a block must fit the registers of an SM, so it is one or the other.
constexpr WinogradShape kWinogradShapes[] = {
    // outputs, taps, filters, tiles, channels, warps, filter buffers
    {4, 3, 64, 16, 8, 12, 2}, {4, 3, 32, 32, 4, 12, 3}, {2, 5, 64, 16, 8, 12, 2},
    {2, 5, 32, 32, 4, 12, 3}, {2, 3, 64, 32, 8, 16, 2},
};
constexpr int kWinogradShapeCount = sizeof kWinogradShapes / sizeof kWinogradShapes[0];

struct WinogradDivision {
  int shape;                         // of kWinogradShapes
  Divisor tiles_down, tiles_across;  // of an image
  int tiles;                         // of all images
  Divisor groups;                    // of the shape's filters
  int chunks;                        // of the shape's channels
  Divisor parts;                     // of the chunks: the blocks of a cluster
};

// Winograd's method in three kernels, with what is between them in memory. Of the shapes for as many taps the one with more
// outputs comes first: it multiplies less; the other one reads fewer filters, which counts where tiles are few.
struct ApartShape {
  int outputs, taps;

  constexpr int cells() const { return outputs + taps - 1; }
  constexpr int frequencies() const { return cells() * cells(); }
};
constexpr ApartShape kApartShapes[] = {{4, 3}, {2, 5}, {3, 4}, {2, 3}};
// Of the products: channels that come on chip together, a chunk; and the blocks, filters x tiles, of which a thread has
// rows x columns. A large block reads less for each product; small ones waste less, and there are more of them.
constexpr int kApartChannels = 32;
struct ApartBlock {
  int filters, tiles;
  int rows, columns;  // 8 or 4

  constexpr int threads() const { return filters * tiles / (rows * columns); }
  constexpr int shared_bytes() const { return 2 * kApartChannels * (filters + tiles) * 4; }
  // Registers let an SM have so many threads: 128 of each, 102 or 85.
  constexpr int resident() const {
    return (rows * columns == 64 ? 512 : rows * columns == 32 ? 640 : 768) / threads();
  }
};
constexpr ApartBlock kApartBlocks[] = {{128, 128, 8, 8}, {64, 128, 8, 8}, {64, 64, 8, 4},
                                       {64, 32, 4, 4},   {32, 64, 4, 4},  {64, 16, 4, 4}};
constexpr int kApartBlockCount = sizeof kApartBlocks / sizeof kApartBlocks[0];
// The block that suits the layer and the shape with most outputs, and not certain ones of them.
constexpr int kBestBlock = -1, kMostOutputs = 0;

// Of the products on tensor cores (winograd_split.cu): warpgroup.cu's tiles, whose filters are tiles here, and whose pixels
// are filters.
constexpr WarpgroupTile kWinogradSplitTiles[] = {{128}, {96}, {80},
                                                 {64},  {32}, {32, 1, kFewPixels}};

// With strides a filter meets every other cell only. So a map is taken for stride_h * stride_w smaller ones, its phases,
// and a filter likewise, and all strides are 1: 5 x 5 taps with stride 2 are 3 x 3 of four times as many channels.
struct ApartDivision {
  int shape;                         // of kApartShapes
  int channels;                      // C * phases
  Divisor group_channels;            // of those, of a group of the layer
  int group_filters;                 // K of a group
  Divisor phases, phases_across;     // of a channel: stride_h * stride_w, stride_w
  Divisor tiles_down, tiles_across;  // of an image
  int images;        // that are computed together: a slice; the last one may have fewer
  int tile_pitch;    // the tiles of a slice, rounded up to whole pieces of 16 bytes
  int filter_pitch;  // the filters of a group, likewise
  int block;         // of kApartBlocks
};

}  // namespace halo::convolve
