// What stage 07 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/families/conv2d.hpp"

namespace halo::single_channel {

Conv2dStage stage();

}  // namespace halo::single_channel
