// Stage 13: whole networks of the course's kernels, and of a library's beside them.
#pragma once

#include <vector>

#include "common/network/program.hpp"

namespace halo::network {

/// Convolutions of stages 06, 08, 09 and 10, pooling of 11, softmax of 12, transforms of 10, and this
/// stage's kernels.
NetworkStage stage();

/// This stage's own kernels for fully connected layers, tiled and over lanes, in both layouts.
std::vector<Conv2dVariant> fully_connected_variants();
BiasReluVariant bias_relu_variant();

}  // namespace halo::network
