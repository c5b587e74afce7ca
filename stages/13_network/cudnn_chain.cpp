#include "stages/13_network/cudnn_chain.hpp"

#include <cuda_runtime.h>

#include "common/peers/network.hpp"
#include "common/peers/operation.hpp"

namespace halo::network {

namespace {

// A catalogue for one layer: the peers' objects keep what they prepared for one layer only.
Catalogue make() {
  Catalogue cudnn;
  cudnn.maker = "cuDNN";

  const peers::ConvolutionBiasRelu convolution = peers::convolution_bias_relu();
  FusedVariant fused;
  fused.sums.name = "cudnn";
  fused.sums.unavailable = convolution.unavailable;
  // It may choose Winograd's method or an FFT.
  fused.sums.demand = conv::Demand::transformed;
  fused.sums.refuses = [](const conv::ConvLayer& layer) -> std::string {
    return layer.P() == 1 && layer.Q() == 1 && layer.R() == layer.H() ? "cuBLAS computes it" : "";
  };
  fused.launch = [convolution](const Conv2dCall& call, const float* bias, bool relu) {
    return convolution.launch(call.layer, call.input, call.filters, bias, call.output, relu);
  };
  fused.detail = convolution.detail;
  cudnn.fused.emplace_back("peers", fused);

  cudnn.fully_connected.emplace_back("peers", peers::fully_connected());

  const peers::BiasRelu bias_relu = peers::bias_relu();
  BiasReluVariant bias;
  bias.name = "cudnn_bias_relu";
  bias.unavailable = bias_relu.unavailable;
  bias.launch = [bias_relu](const BiasRelu& problem, float* data, const float* values) {
    // It takes NCHW.
    if (problem.layout != conv::Layout::nchw) return static_cast<int>(cudaErrorNotSupported);
    return bias_relu.launch(problem.images, values, data, problem.relu);
  };
  bias.detail = [bias_relu](const BiasRelu&) { return bias_relu.detail ? bias_relu.detail() : ""; };
  cudnn.bias_relu.emplace_back("peers", bias);

  Catalogue::add(cudnn.pooling, "peers", peers::pooling());
  Catalogue::add(cudnn.softmax, "peers", peers::softmax());
  return cudnn;
}

}  // namespace

Peer cudnn_chain() {
  const peers::ConvolutionBiasRelu convolution = peers::convolution_bias_relu();
  std::string unavailable = convolution.unavailable;
  if (unavailable.empty()) unavailable = peers::fully_connected().unavailable;
  return {"cudnn_chain", "every layer by cuDNN or cuBLAS, in NCHW", convolution.version,
          unavailable, make};
}

}  // namespace halo::network
