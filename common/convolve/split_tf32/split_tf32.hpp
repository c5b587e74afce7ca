// Layers through tensor cores, with float's accuracy: what split_tf32.cu runs, as variants that stages show and contenders
// that the dispatcher chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the tile that is planned for the layer.
Conv2dVariant split_tf32();
/// With each number of filters a block, and these as contenders: split_tf32_64, split_tf32_128.
std::vector<Conv2dVariant> split_tf32_of_each_tile();
std::vector<Contender> split_tf32_contenders();

}  // namespace halo::convolve
