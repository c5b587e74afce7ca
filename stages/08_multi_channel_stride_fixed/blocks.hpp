// What the kernels of stage 08 are told of a layer and of a block's share of it. Plain numbers: host
// and device both use them.
#pragma once

#include "common/planning/block.hpp"

namespace halo::multi_channel_stride_fixed {

// A layer, in the letters of docs/notation.md.
struct Layer {
  int N, C, H, W;
  int K, R, S;
  int P, Q;
  int stride_h, stride_w;
  int padding_h, padding_w;
};

}  // namespace halo::multi_channel_stride_fixed
