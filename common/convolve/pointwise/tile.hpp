// The tile of pointwise.cu. Plain numbers: host and device both use them.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

constexpr int kPointwiseThreads = 128;
constexpr int kPointwiseWarps = kPointwiseThreads / 32;

struct PointwiseTile {
  int pixels;   // of a thread, 32 apart
  int filters;  // of a thread
  int groups;  // of the filters, over the warps of a block: 1, 2 or 4; the other warps have other pixels

  constexpr int block_pixels() const { return 32 * pixels * (kPointwiseWarps / groups); }
  constexpr int block_filters() const { return filters * groups; }
};

// Filters are packed [C][pitch]: zeros beyond the K there are, so that every tile is whole.
constexpr int kPointwisePitch = 64;
constexpr int packed_pitch(int filters) {
  return (filters + kPointwisePitch - 1) / kPointwisePitch * kPointwisePitch;
}

}  // namespace halo::convolve
