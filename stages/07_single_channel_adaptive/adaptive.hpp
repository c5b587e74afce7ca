// The layer as the kernels take it, and the launch of what a plan has chosen.
#pragma once

#include "common/planning/single_channel_plan.hpp"
#include "stages/07_single_channel_adaptive/single_channel.hpp"

namespace halo::single_channel {

/// Throws std::invalid_argument, in one line, if the layer has more than one channel or a stride.
Layer layer_of(const conv::ConvLayer& layer);

/// Rows of a strip of 1_prefetch.cu: 4, or fewer if 48 KB, which a block has without asking for more,
/// do not hold their cells and kPrefetchFilters filters; 0 if they do not hold one row.
int prefetch_rows(const Layer& layer);

/// Launches the method that the plan chose. Throws as layer_of and divide; returns the launch's
/// error.
cudaError_t adaptive(const float* input, const float* filters, float* output,
                     const conv::ConvLayer& layer, const Plan& plan);

}  // namespace halo::single_channel
