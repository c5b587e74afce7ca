// What the kernels of stage 11 must cost, from the algorithm: exact counters for any layer, without
// running a kernel.
#pragma once

#include "common/conv/pooling.hpp"
#include "common/harness/traffic/cost.hpp"
#include "stages/11_fused_pooling/expansion.hpp"

namespace halo::fused_pooling {

// One output a thread, as `nchw` and `chwn`: each window is read from its first cell that exists on.
// In NCHW lanes with fewer of them than others end early, and read what they have in step.
Cost predict_plain(const conv::PoolingLayer& layer, conv::Layout layout);

// Tiles of outputs, as `nchw_reuse` and `chwn_reuse`.
Cost predict_reuse(const conv::PoolingLayer& layer, conv::Layout layout, Expansion expansion);

// `chwn_rolling` with strips of so many outputs.
Cost predict_rolling(const conv::PoolingLayer& layer, int strip);

}  // namespace halo::fused_pooling
