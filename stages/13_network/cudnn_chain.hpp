// The library that whole networks are compared with.
#pragma once

#include "common/network/program.hpp"

namespace halo::network {

/// cudnn_chain: every layer by cuDNN in NCHW, with bias and ReLU inside the convolution where that is
/// faster; fully connected layers by cuBLAS, with cuDNN's bias and ReLU after them. In true fp32, as
/// common/peers/cudnn.hpp says. Where a backend has no libraries it says so.
Peer cudnn_chain();

}  // namespace halo::network
