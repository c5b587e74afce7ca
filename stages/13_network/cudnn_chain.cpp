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
  cudnn.fused.emplace_back(
      "peers", FusedVariant{[convolution](const conv::ConvLayer& layer, bool relu) {
        Prepared<conv::ConvLayer> made;
        made.name = "cudnn";
        made.adds_bias = true;
        // It may choose Winograd's method or an FFT.
        made.demand = conv::Demand::transformed;
        made.refusal = convolution.unavailable;
        if (layer.filters_cover_map()) made.refusal = "cuBLAS computes it";
        made.launch = [convolution](const Conv2dCall& call) {
          return convolution.launch(call.layer, call.input, call.filters, call.bias, call.output,
                                    call.relu);
        };
        if (convolution.detail) {
          made.detail = [convolution, layer, relu] { return convolution.detail(layer, relu); };
        }
        return made;
      }});

  cudnn.fully_connected.emplace_back("peers", peers::fully_connected());

  const peers::BiasRelu bias_relu = peers::bias_relu();
  BiasReluVariant bias;
  bias.name = "cudnn_bias_relu";
  bias.unavailable = bias_relu.unavailable;
  bias.prepare = [bias_relu](const BiasRelu& problem) {
    Kernel kernel;
    kernel.launch = [bias_relu, problem](const Arrays& arrays) {
      // It takes NCHW.
      if (problem.layout != conv::Layout::nchw) return static_cast<int>(cudaErrorNotSupported);
      return bias_relu.launch(problem.images, arrays.bias, arrays.output, problem.relu);
    };
    kernel.detail = bias_relu.detail;
    return kernel;
  };
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
