#include "common/peers/library.hpp"

extern "C" __attribute__((visibility("default"))) const halo::peers::Library* halo_peers() {
  using namespace halo;
  static constexpr peers::Library kAll = {
      .conv1d = &peers::conv1d,
      .conv2d = &peers::conv2d,
      .fft_convolution = &peers::fft_convolution,
      .transform = &peers::transform,
      .pooling = &peers::pooling,
      .softmax = &peers::softmax,
      .fully_connected = &peers::fully_connected,
      .bias_relu = &peers::bias_relu,
      .convolution_bias_relu = &peers::convolution_bias_relu,
  };
  return &kAll;
}
