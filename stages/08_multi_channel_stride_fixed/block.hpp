// What the kernels of stage 08 get of a block's share of a layer, and what they and the plans
// must agree on. Plain numbers: host and device both use them. block_plan.hpp says how a Block is
// chosen.
#pragma once

namespace halo::multi_channel_stride_fixed {

// Sums that a thread keeps in registers: one pixel, so many filters. With 128 pixels and 64 filters
// a block then has the paper's 512 threads. More of them would read each pixel fewer times from
// shared memory, and 64 would need half of all registers a thread can have.
inline constexpr int kFiltersPerThread = 16;

struct Block {
  int segment;       // taps of each filter that come on chip together: the paper's S / 4
  int pixels;        // W'x: target pixels, and threads along x; a multiple of 32
  int filters;       // M': filters that are applied together
  int pitch;         // floats from one filter's taps on chip to the next one's: whole float4
  int tile_rows;     // the targets: tile_rows x tile_columns <= pixels outputs of one image
  int tile_columns;  //
  int tiles_down;    // tiles of an image
  int tiles_across;  //
  int groups;        // of `filters` filters, all K of them together
  int line;          // floats of a map line on chip: what the targets and the filter's columns need
  int channel_lines;  // lines of one channel that the targets need
  int ring;           // lines that shared memory holds at a time
};

}  // namespace halo::multi_channel_stride_fixed
