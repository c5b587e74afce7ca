// Layers of 1 x 1 filters: what pointwise.cu runs, as variants that stages show and contenders that the dispatcher chooses
// among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the tile that is planned for the layer.
Conv2dVariant pointwise();
/// With each tile, whatever the layer, and these as contenders.
std::vector<Conv2dVariant> pointwise_of_each_tile();
std::vector<Contender> pointwise_contenders();

}  // namespace halo::convolve
