// Stage 13's own kernels as variants, for its networks and its tests.
#pragma once

#include <vector>

#include "common/network/program.hpp"

namespace halo::network {

/// For fully connected layers, tiled and over lanes, in both layouts.
std::vector<Conv2dVariant> fully_connected_variants();
BiasReluVariant bias_relu_variant();
/// One for each size of a cluster.
std::vector<SeveralVariant> on_chip_variants();
/// For LeNet, all of it.
SeveralVariant fused_lenet_variant();

}  // namespace halo::network
