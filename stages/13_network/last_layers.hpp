// What the kernel of the last layers takes (4_last_layers.cu). Plain structs.
#pragma once

#include "common/harness/kernel.h"

namespace halo::network {

constexpr int kLastBlocks = 8;      // of a cluster, the most that every GPU with clusters takes
constexpr int kMostLastLayers = 3;  // fully connected ones
constexpr int kMostFeatures =
    4096;  // 16 KB of cells, twice: 32 of the 48 KB that a block has without asking

struct LastLayer {
  const float* filters;  // [outputs][features]
  const float* bias;     // [outputs]
  float* stored;         // [N][outputs]
  int features, outputs;
  bool relu;
};

struct LastLayers {
  int count;
  LastLayer layer[kMostLastLayers];
};

}  // namespace halo::network
