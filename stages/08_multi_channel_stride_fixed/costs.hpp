// What each kernel of stage 08 must cost, counted from the division alone.
#pragma once

#include "common/conv/layer.hpp"
#include "common/harness/traffic/cost.hpp"
#include "common/planning/fourier_plan.hpp"
#include "common/planning/register_tile.hpp"
#include "common/planning/winograd_plan.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"

namespace halo::multi_channel_stride_fixed {

Cost predict_stride_fixed(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_channels_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_filters_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_maps_divided(const conv::ConvLayer& layer, const BlockPlan& plan);
Cost predict_outer_product(const conv::ConvLayer& layer);
Cost predict_winograd_f2(const conv::ConvLayer& layer);
Cost predict_fourier_tile(const conv::ConvLayer& layer);
Cost predict_register_tile(const conv::ConvLayer& layer, const RegisterTile& tile);
Cost predict_winograd(const conv::ConvLayer& layer, const WinogradPlan& plan);
Cost predict_winograd_apart(const conv::ConvLayer& layer, const ApartPlan& plan);
Cost predict_fourier(const conv::ConvLayer& layer, const FourierPlan& plan);
Cost predict_fourier_split(const conv::ConvLayer& layer, const FourierPlan& plan);

// What a bias costs more; either of Fourier's kernels.
Cost bias_of_register_tile(const conv::ConvLayer& layer, const RegisterTile& tile);
Cost bias_of_winograd(const conv::ConvLayer& layer, const WinogradPlan& plan);
Cost bias_of_winograd_apart(const conv::ConvLayer& layer, const ApartPlan& plan);
Cost bias_of_fourier(const conv::ConvLayer& layer, const FourierPlan& plan);

}  // namespace halo::multi_channel_stride_fixed
