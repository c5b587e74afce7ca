// What stage 12 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/operation.hpp"

namespace halo::fused_softmax {

SoftmaxStage stage();

}  // namespace halo::fused_softmax
