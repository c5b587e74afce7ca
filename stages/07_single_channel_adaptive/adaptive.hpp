// The launch of what a plan has chosen, and the plan of 1_prefetch.cu, which is one number.
#pragma once

#include "common/harness/kernel.h"
#include "stages/07_single_channel_adaptive/plan.hpp"

namespace halo::single_channel_adaptive {

// Of a block of 1_prefetch.cu, as it says itself.
inline constexpr int kPrefetchFilters = 16;
inline constexpr int kPrefetchBand = 16;  // rows of outputs

// Rows of a strip of 1_prefetch.cu: 4, or fewer if 48 KB, which a block has without asking for more,
// do not hold their cells and kPrefetchFilters filters; 0 if they do not hold one row.
int prefetch_rows(const LayerNumbers& layer);

// Launches the method that the plan chose, with the division that `divide` made of the plan. Returns
// the CUDA error code of the launch.
int adaptive(const LayerCall& call, const Plan& plan, const Division& division);

// In 1_prefetch.cu to 3_map_over_sms.cu. The division is one of a plan for this method.
int prefetch(const LayerCall& call, int rows);
int filters_over_sms(const LayerCall& call, const Division& division);
int map_over_sms(const LayerCall& call, const Division& division);

}  // namespace halo::single_channel_adaptive
