// Stage 09's variant for tensor cores, and what it must cost.
#pragma once

#include "common/harness/families/conv2d.hpp"
#include "common/harness/kernel.h"
#include "common/harness/traffic/cost.hpp"
#include "common/planning/split_tf32_plan.hpp"

namespace halo::cuconv_two_stage {

// In 5_split_tf32.cu. call.packed is what split_filters left for the same tile. Returns the launch's error, does
// not wait.
int split_tf32(const LayerCall& call, const SplitTile& tile);

// In split_filters.cu: writes the packed_floats of the tile's plan. Returns the launch's error, does not wait.
int split_filters(const float* filters, float* packed, const LayerNumbers& layer,
                  const SplitTile& tile);

// What the simulator must count for one call; its filters are packed before.
Cost predict_split_tf32(const conv::ConvLayer& layer, const SplitTile& tile);

// The variant with the planned tile.
Conv2dVariant split_tf32_variant();

// The same with a given number of filters a block, for --search: split_tf32_64, split_tf32_128.
std::vector<Conv2dVariant> search_split_tf32();

}  // namespace halo::cuconv_two_stage
