// What 5_fused_lenet.cu takes.
#pragma once

#include "common/harness/kernel.h"

namespace halo::network {

constexpr int kLenetFilters = 16;  // of both convolutions
constexpr int kImagePitch = 28 + 4;
// Of shared memory: the image and the first map with frames of two zeros, the second map, features, taps.
constexpr int kLenetFloats =
    kImagePitch * kImagePitch + 16 * 18 * 18 + 16 * 7 * 7 + 216 + 16 * 25 + 16 * 16 * 25;

// Of conv1, conv2, fc1, fc2, fc3; outputs of each layer, pooling and softmax too.
struct LenetArrays {
  const float* filters[5];  // [K][C][R][S]
  const float* biases[5];   // [K]
  float* outputs[8];        // [N][K][P][Q]
};

}  // namespace halo::network
