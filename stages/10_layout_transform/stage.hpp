// What stage 10 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/operation.hpp"

namespace halo::layout_transform {

TransformStage stage();

}  // namespace halo::layout_transform
