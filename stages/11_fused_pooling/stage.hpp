// What stage 11 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/families/pooling.hpp"

namespace halo::fused_pooling {

/// `searched` are the kernels of steps 3 and 4 with each expansion that they have, whatever
/// choose_expansion says: "chwn_2x4" has 2 x 4 outputs a thread, and refuses layers where why_not says
/// something. "chwn_1x1" differs from "chwn" in its loops only, so against it reuse is compared alone.
PoolingStage stage();

}  // namespace halo::fused_pooling
