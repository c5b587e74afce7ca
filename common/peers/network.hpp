// What a network of library calls needs besides the peers of its convolutions (conv2d.hpp), pooling
// layers and softmax (operation.hpp).
//
//   gpu  fully_connected: cuBLAS; bias_relu and convolution_bias_relu: cuDNN
//   sim  all are there, and `unavailable` says why they can't be launched
//
// As for the other peers (conv1d.hpp): all work on the calling thread's default stream; the first call
// of a layer may allocate, measure and wait, those after it do none of that and can be captured into a
// CUDA graph; what can't compute a layer launches nothing and returns cudaErrorNotSupported.
//
// Each object keeps what it prepared for one layer only, the last. A chain that is to be captured or
// timed needs an object of its own for each of its layers: make as many as there are layers, and call
// each once first. The libraries are opened once for all of them.
#pragma once

#include <functional>
#include <string>

#include "common/conv/layout.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::peers {

/// A convolution whose filters cover the whole unpadded image, so that P = Q = 1, as the matrix
/// product that it is: cublasSgemm, in float without TF32. Refuses other layers. In both layouts
/// without any transform: with CHWN input is [C*H*W][N] and output [K][N].
Conv2dVariant fully_connected(conv::Layout layout = conv::Layout::nchw);

/// A bias for each channel, then ReLU.
struct BiasRelu {
  /// images[n][c][h][w] (NCHW) += bias[c], in place; with `relu` what is then negative becomes 0, and
  /// NaN stays NaN. Arrays in device memory. Returns a CUDA error code.
  std::function<int(const conv::Images&, const float* bias, float* images, bool relu)> launch;
  /// What the library said no to, if it did, or its version: for the layer that was launched last.
  std::function<std::string()> detail;
  std::string unavailable;  // not empty: this build can't run it, and why
  std::string version;      // "cuDNN 9.14.0"
};
BiasRelu bias_relu();

/// A convolution layer with its bias and ReLU, in NCHW: the fastest of cuDNN's fused calls
/// (cudnnConvolutionBiasActivationForward) and of its convolutions with bias_relu's two calls after
/// them. All are in true fp32, chosen and proved as cudnn.hpp says.
struct ConvolutionBiasRelu {
  /// output[n][k][p][q] = convolution + bias[k], with `relu` at least 0. Arrays in device memory:
  /// input [N][C][H][W], filters [K][C][R][S], bias [K], output [N][K][P][Q]. Where ReLU is fused a NaN
  /// may become 0: cuDNN's documentation leaves it open. Returns a CUDA error code.
  std::function<int(const conv::ConvLayer&, const float* input, const float* filters,
                    const float* bias, float* output, bool relu)>
      launch;
  /// What was chosen, and of how many; or why none was.
  std::function<std::string(const conv::ConvLayer&, bool relu)> detail;
  std::string unavailable;  // not empty: this build can't run it, and why
  std::string version;      // "cuDNN 9.14.0"
};
ConvolutionBiasRelu convolution_bias_relu();

}  // namespace halo::peers
