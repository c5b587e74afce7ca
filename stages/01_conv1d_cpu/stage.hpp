// What stage 01 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_cpu {

Conv1dStage stage();

}  // namespace halo::conv1d_cpu
