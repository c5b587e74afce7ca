// Layers through Hopper's tensor cores, with float's accuracy: what warpgroup.cu runs, as variants that stages show and
// contenders that the dispatcher chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the tile that is planned for the layer.
Conv2dVariant warpgroup();
/// Fully connected layers, outputs in the place of pixels and images in that of filters (plan_fully_connected).
Conv2dVariant warpgroup_fully_connected();
/// With each of warpgroup_tiles(), and these as contenders: warpgroup_32 ... warpgroup_128_p2, warpgroup_32x64.
std::vector<Conv2dVariant> warpgroup_of_each_tile();
std::vector<Contender> warpgroup_contenders();

}  // namespace halo::convolve
