// What stage 11 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/operation.hpp"
#include "stages/11_fused_pooling/expansion.hpp"

namespace halo::fused_pooling {

PoolingStage stage();

/// chwn_reuse or nchw_reuse with these outputs a thread, whatever choose_expansion says; it refuses
/// layers where why_not says something. Its name tells them: "chwn_2x4".
PoolingVariant fixed_reuse(conv::Layout layout, Expansion expansion);

}  // namespace halo::fused_pooling
