// What the 2D stages are compared with: a copy of as many bytes, and cuDNN. Which ones depends on the
// backend that a program links (peers_sim_dep, peers_gpu_dep).
//
//   sim  none: nothing is timed there
//   gpu  copy, cudnn (its eight forward algorithms), cudnn_graph (its graph API's plans)
//
// As for the 1D peers (conv1d.hpp): one that was not found stays in the list and says so; all work on
// the calling thread's default stream; the first call of a layer may allocate, measure and wait, those
// after it do none of that; what can't compute a layer launches nothing and returns
// cudaErrorNotSupported, and its `detail` says why.
#pragma once

#include <vector>

#include "common/harness/conv2d.hpp"

namespace halo::peers {

/// The peers of the 2D family on this backend, copies (Role::copy) first.
std::vector<Conv2dVariant> conv2d();

}  // namespace halo::peers
