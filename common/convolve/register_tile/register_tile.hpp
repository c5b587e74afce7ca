// Any layer in tiles of registers: what register_tile.cu runs, as variants that stages show and contenders that the dispatcher
// chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the tile that the model finds fastest.
Conv2dVariant register_tile();
/// With each of kRegisterContenders (plan.hpp), whatever the layer, and these as contenders.
std::vector<Conv2dVariant> register_tile_of_each_shape();
std::vector<Contender> register_tile_contenders();

}  // namespace halo::convolve
