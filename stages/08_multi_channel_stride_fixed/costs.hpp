// What each kernel of stage 08 must cost, counted from the division alone.
#pragma once

#include "common/conv/layer.hpp"
#include "common/harness/traffic/cost.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"

namespace halo::multi_channel_stride_fixed {

Cost predict_stride_fixed(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_channels_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_filters_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_maps_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_outer_product(const conv::ConvLayer& layer);
Cost predict_winograd_f2(const conv::ConvLayer& layer);
Cost predict_fourier_tile(const conv::ConvLayer& layer);

}  // namespace halo::multi_channel_stride_fixed
