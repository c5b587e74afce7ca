// cuDNN as it computes layers in float if nobody forbids it: on tensor cores, which round the factors to TF32.
// What stands beside the stage that gets float's accuracy from them.
//
//   gpu  cudnn_tf32, the fastest of its algorithms and its graph API's plans that are sums of products in TF32;
//        none unless HALO_CUDNN_TF32=1 is in the environment: a program that times it must not forbid TF32 to
//        the libraries as a whole, so that for the peers in true fp32 only their own settings and errors speak
//   sim  none
//
// Judged with Demand::tf32. Otherwise as the other peers (conv2d.hpp).
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::peers {

std::vector<Conv2dVariant> cudnn_tf32();

}  // namespace halo::peers
