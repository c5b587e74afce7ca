// All peers of the kernels, as one library that a program loads where it runs on a GPU: what is made of CUB, Thrust and
// NVIDIA's libraries takes longer to build than a stage, and nobody waits for it in the simulator. Private to the peers.
#pragma once

#include "common/peers/conv1d.hpp"
#include "common/peers/conv2d.hpp"
#include "common/peers/fft_convolution.hpp"
#include "common/peers/network.hpp"
#include "common/peers/operation.hpp"

namespace halo::peers {

/// The functions of those headers.
struct Library {
  std::vector<Conv1dVariant> (*conv1d)();
  std::vector<Conv2dVariant> (*conv2d)();
  std::vector<Conv2dVariant> (*fft_convolution)();
  std::vector<TransformVariant> (*transform)();
  std::vector<PoolingVariant> (*pooling)();
  std::vector<SoftmaxVariant> (*softmax)();
  Conv2dVariant (*fully_connected)(conv::Layout layout);
  BiasRelu (*bias_relu)();
  ConvolutionBiasRelu (*convolution_bias_relu)();
};

/// On a GPU; null where there is none, and then `reason` says why.
const Library* load_library(std::string& reason);

}  // namespace halo::peers

/// What the library has to be asked for.
extern "C" const halo::peers::Library* halo_peers();
