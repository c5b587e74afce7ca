// What register_tile.cu knows of a block's share of a layer, and what it and the plan must agree on. Plain numbers: host and
// device both use them. plan.hpp says how a RegisterTile is chosen.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

// A segment is one tap of so many channels; of fewer channels than that, so many taps in the order (c, r, s). 8 would
// waste less where C is no multiple of 16, and cost twice the barriers.
constexpr int kSegmentChannels = 16;
// Segments on chip: one in use, the others on their way.
constexpr int kStages = 3;

// Of layers with fewer channels a stage has the places of 16 taps beside, in four numbers each: of those that are copied
// while it is multiplied.
constexpr int kTapNumbers = 4 * kSegmentChannels;

// What a block computes: filters x pixels outputs, thread_filters x thread_pixels of them in the registers of
// a thread. Pixels are outputs of all images, numbered through over n, p and q.
struct RegisterShape {
  int filters, pixels;
  int thread_filters, thread_pixels;
  int blocks_of_sm;  // that must fit: their registers are what is left
  // Whether it is compiled for layers with fewer channels than a segment: large, small, and one for 96 filters, as many
  // as first layers like to have. (Others could; each is a kernel to compile.) And for layers with more.
  bool for_few, for_many;

  constexpr int threads() const { return filters / thread_filters * (pixels / thread_pixels); }
  // Floats on chip: the stages, or, where outputs are no quads, all sums; their rows are a quad longer, for the banks.
  // With a cluster its blocks' parts of the rows that a block adds up lie after the stages, which may still be in use
  // when the first of them come, and a barrier after these.
  constexpr int stages(bool few) const {
    return kStages * (kSegmentChannels * (filters + pixels) + (few ? kTapNumbers : 0));
  }
  constexpr int sums() const { return filters * (pixels + 4); }
  constexpr int of_parts(int parts) const { return ((filters - 1) / parts + 1) * parts * pixels; }
  constexpr int floats(bool few, int parts, bool quads) const {
    if (parts > 1) return stages(few) + of_parts(parts) + 2;
    return quads || stages(few) > sums() ? stages(few) : sums();
  }
};
constexpr RegisterShape kRegisterShapes[] = {
    {128, 128, 16, 8, 2, false, true}, {64, 128, 8, 8, 3, true, true},
    {64, 64, 8, 4, 4, false, true},    {32, 128, 8, 4, 5, false, true},
    {32, 64, 8, 4, 8, true, true},     {32, 64, 4, 4, 8, false, true},
    {16, 128, 4, 4, 8, false, true},   {96, 128, 12, 8, 3, true, false},
};
constexpr int kRegisterShapeCount = 8;

// Blocks that may share a tile, as a cluster: more than 8 are not portable.
constexpr int kMostParts = 8;

struct RegisterTile {
  int shape;    // of kRegisterShapes
  int parts;    // blocks that share a tile, each with a part of its segments: a cluster
  int at_once;  // pixels of a copy: 4 where a channel's are one run of whole quads, else 1
};

// The packed filters: packed[segments][kSegmentChannels][row]. The segments are [R][S][of_tap], and after them is a quad
// of zeros; or where channels are few they are a filter's taps in the order (c, r, s), and after them are the places
// of these taps and of two segments more, which nobody uses: a segment comes with the places of the next but one.
struct PackedFilters {
  int segments;
  int of_tap;  // the last ends with channel C - 1, and overlaps the one before if it must; 0: channels are few
  int row;           // floats of one channel's tap: all K, in whole quads
  long long floats;  // of the filters
  long long behind;  // numbers after them
};
constexpr PackedFilters packed_filters(int C, int K, int R, int S) {
  const bool few = C < kSegmentChannels;
  const int of_tap = few ? 0 : (C - 1) / kSegmentChannels + 1;
  const int segments = few ? (C * R * S - 1) / kSegmentChannels + 1 : R * S * of_tap;
  const int row = (K - 1) / 4 * 4 + 4;
  return {segments, of_tap, row, static_cast<long long>(segments) * kSegmentChannels * row,
          few ? 1ll * kTapNumbers * (segments + kStages - 1) : 4};
}
// By what the kernel divides: tiles are numbered through over groups of filters, pixels over maps and rows, segments over
// taps, taps over a filter's rows.
struct TileDivisors {
  Divisor parts, groups, map, row, of_tap, filter_row;
};

}  // namespace halo::convolve
