// The simulator has no libraries.
#include "common/peers/fully_connected.hpp"
#include "common/peers/network.hpp"

namespace halo::peers {

Conv2dVariant fully_connected(conv::Layout layout) {
  Conv2dVariant peer = describe_fully_connected(layout);
  peer.unavailable = "cuBLAS needs a GPU: the simulator runs no library's kernels";
  return peer;
}

BiasRelu bias_relu() {
  BiasRelu step;
  step.unavailable = "cuDNN needs a GPU: the simulator runs no library's kernels";
  return step;
}

ConvolutionBiasRelu convolution_bias_relu() {
  ConvolutionBiasRelu step;
  step.unavailable = bias_relu().unavailable;
  return step;
}

}  // namespace halo::peers
