// What the kernels of stage 13 must cost: what the simulator must count for one launch.
#pragma once

#include "common/network/program.hpp"

namespace halo::network {

/// Of a layer whose filters cover the map.
Cost predict_tiled(const conv::ConvLayer& layer, conv::Layout layout);
Cost predict_lanes(const conv::ConvLayer& layer, conv::Layout layout);
Cost predict_rows(const conv::ConvLayer& layer);  // of one image

/// What a bias costs more.
Cost bias_of_tiled(const conv::ConvLayer& layer, conv::Layout layout);
Cost bias_of_lanes(const conv::ConvLayer& layer, conv::Layout layout);
Cost bias_of_rows(const conv::ConvLayer& layer);

/// Cells of a plane that one bias is added to.
int inner_of(const BiasRelu& problem);
Cost predict_bias_relu(const BiasRelu& problem);

/// Of LeNet in one kernel.
Cost predict_fused_lenet(std::int64_t images);

}  // namespace halo::network
