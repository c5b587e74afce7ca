// What each kernel of stage 08 must cost, counted from the division alone.
#pragma once

#include "common/conv/layer.hpp"
#include "common/planning/block_plan.hpp"
#include "common/simt/simt.hpp"

namespace halo::multi_channel_stride_fixed {

simt::Counters predict_stride_fixed(const conv::ConvLayer& layer, const BlockPlan& plan);
simt::Counters predict_channels_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
simt::Counters predict_filters_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
simt::Counters predict_maps_divided(const conv::ConvLayer& layer, const BlockPlan& plan);

}  // namespace halo::multi_channel_stride_fixed
