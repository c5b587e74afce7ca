// How a layer with groups or dilation becomes plain layers, and what that costs besides. Plain C++: no GPU is asked.
#pragma once

#include <optional>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/plain_parts/division.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

// Arrays begin at multiples of 256 bytes: of so many floats.
inline constexpr std::int64_t kAlignment = 64;

struct PartsPlan {
  std::string refusal;                   // the end of a sentence; empty: the others count
  std::optional<conv::ConvLayer> plain;  // of one group, of a slice of the images
  int slices = 0;                        // one after the other, with the same temporaries
  bool in_place = false;                 // nothing is gathered, nor scattered
  PartsDivision division{};
  std::int64_t gathered = 0, sums = 0;  // floats of temporaries
};

/// A plain layer for each group; in it, an image for each place of an output among those that lie as far apart as the
/// dilation, along either axis. Of the images as many together as leave the temporaries within their limit.
PartsPlan plan_parts(const conv::ConvLayer& layer);

/// Why the layer is rather for `grouped`, as the end of a sentence; empty: it is for this.
std::string better_grouped(const conv::ConvLayer& layer);

/// What gathering and scattering cost, and a bias more.
Cost parts_cost(const conv::ConvLayer& layer, const PartsPlan& plan);
Cost parts_bias_cost(const conv::ConvLayer& layer, const PartsPlan& plan);

}  // namespace halo::convolve
