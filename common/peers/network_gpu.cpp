// The GPU peers of a network's layers. What needs a library's header is in files of its own.
#include "common/peers/fully_connected.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/network.hpp"

namespace halo::peers {

Conv2dVariant fully_connected(conv::Layout layout) {
  Conv2dVariant peer = describe_fully_connected(layout);
#ifdef HALO_HAVE_CUBLAS
  use_cublas(peer);
#else
  peer.unavailable = HALO_NO_CUBLAS;
#endif
  return peer;
}

BiasRelu bias_relu() {
  BiasRelu step;
#ifdef HALO_HAVE_CUDNN
  use_cudnn(step);
#else
  step.unavailable = HALO_NO_CUDNN;
#endif
  return step;
}

ConvolutionBiasRelu convolution_bias_relu() {
  ConvolutionBiasRelu step;
#ifdef HALO_HAVE_CUDNN
  use_cudnn(step);
#else
  step.unavailable = HALO_NO_CUDNN;
#endif
  return step;
}

}  // namespace halo::peers
