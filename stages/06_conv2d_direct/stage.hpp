// What stage 06 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/conv2d.hpp"

namespace halo::conv2d_direct {

Conv2dStage stage();

}  // namespace halo::conv2d_direct
