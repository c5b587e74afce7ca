// How a dilated layer becomes a plain one, and what that costs besides. Plain C++: no GPU is asked.
#pragma once

#include <optional>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/dilated/division.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

struct DilatedPlan {
  std::string refusal;                   // the end of a sentence; empty: the others count
  std::optional<conv::ConvLayer> plain;  // of a slice of the images
  int slices = 0;                        // one after the other, with the same temporaries
  DilatedDivision division{};
  // Floats of temporaries, each in multiples of 256 bytes: what is gathered, and the plain layer's outputs.
  std::int64_t gathered = 0, sums = 0;
};

/// One image of the plain layer for each place of an output among those that lie as far apart as the dilation, along either
/// axis. Of the images as many together as leave the temporaries within their limit.
DilatedPlan plan_dilated(const conv::ConvLayer& layer);

/// What gathering and scattering cost, and a bias more.
Cost dilated_cost(const conv::ConvLayer& layer, const DilatedPlan& plan);
Cost dilated_bias_cost(const conv::ConvLayer& layer);

}  // namespace halo::convolve
