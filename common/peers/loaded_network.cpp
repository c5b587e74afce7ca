// The same of a network's layers.
#include "common/peers/fully_connected.hpp"
#include "common/peers/library.hpp"
#include "common/simt/simulator.hpp"

namespace halo::peers {

namespace {

const Library* library_on_gpu(std::string& reason) {
  if (simt::simulator() == nullptr) return load_library(reason);
  reason = "it needs a GPU: the simulator runs no library's kernels";
  return nullptr;
}

}  // namespace

Conv2dVariant fully_connected(conv::Layout layout) {
  std::string reason;
  if (const Library* const library = library_on_gpu(reason))
    return library->fully_connected(layout);
  Conv2dVariant peer = describe_fully_connected(layout);
  peer.unavailable = reason;
  return peer;
}

BiasRelu bias_relu() {
  BiasRelu step;
  if (const Library* const library = library_on_gpu(step.unavailable)) return library->bias_relu();
  return step;
}

ConvolutionBiasRelu convolution_bias_relu() {
  ConvolutionBiasRelu step;
  if (const Library* const library = library_on_gpu(step.unavailable)) {
    return library->convolution_bias_relu();
  }
  return step;
}

}  // namespace halo::peers
