// What stage 10's convolutions give to their program, their tests and the network: the variants.
#pragma once

#include "common/harness/families/conv2d.hpp"

namespace halo::layout_convolution {

Conv2dStage stage();

}  // namespace halo::layout_convolution
