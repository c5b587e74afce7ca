// What follows a kernel that adds no bias itself.
#pragma once

#include "common/conv/layer.hpp"

namespace halo::library {

/// Adds bias[k], if it is not null, to the outputs of each filter, in place, then with `relu` makes what is negative 0; NaN
/// stays NaN. Does not wait. Returns a CUDA error code.
int add_bias(const conv::ConvLayer& layer, const float* bias, bool relu, float* output,
             void* stream);

}  // namespace halo::library
