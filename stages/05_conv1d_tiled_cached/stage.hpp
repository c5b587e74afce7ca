// What stage 05 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/conv1d.hpp"

namespace halo::conv1d_tiled_cached {

Conv1dStage stage();

}  // namespace halo::conv1d_tiled_cached
