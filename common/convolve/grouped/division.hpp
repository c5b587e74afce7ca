// A layer and its division as grouped.cu gets them: plain numbers, for host and device. plan.hpp
// says how it is chosen.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

inline constexpr int kGroupedThreads = 128;  // of a block

// The outputs of a thread, for which a kernel is compiled.
struct GroupedShape {
  int size;           // rows and columns of the filters; 0: any
  int stride;         // down and across, without dilation; 0: any, with any dilation
  int filters;        // of one group, one after the other
  int rows, columns;  // of outputs: of four or two columns memory is read in quads or pairs
  bool operator==(const GroupedShape&) const = default;
};

struct GroupedDivision {
  int C, H, W, K, P, Q, R, S;
  int stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
  int channels, filters;  // of a group
  int pitch;              // packed taps of one channel, for the filters of a thread
  int units;              // threads that have outputs: [groups][sets][N][down][across]
  Divisor sets;           // of `shape.filters` filters, of a group
  Divisor images;
  Divisor across, down;  // threads of a row of outputs, and of a column of them
};

// Whole quads, so that four taps are one read.
inline int grouped_pitch(int taps, int filters) { return (taps * filters + 3) / 4 * 4; }

}  // namespace halo::convolve
