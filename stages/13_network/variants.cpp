// The variants of stage 13, and the stages that it is built of.
#include "stages/06_conv2d_direct.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/09_cuconv_two_stage.hpp"
#include "stages/10_layout_convolution.hpp"
#include "stages/10_layout_transform.hpp"
#include "stages/11_fused_pooling.hpp"
#include "stages/12_fused_softmax.hpp"
#include "stages/13_network/costs.hpp"
#include "stages/13_network/digits_folder.hpp"
#include "stages/13_network/network_kernels.hpp"
#include "stages/13_network/stage.hpp"

namespace halo::network {

namespace {

using conv::Layout;

std::string needs_all_of_the_map(const conv::ConvLayer& layer) {
  const conv::LayerShape& shape = layer.shape();
  if (shape.R == shape.H && shape.S == shape.W && shape.padding_h == 0 && shape.padding_w == 0) {
    return "";
  }
  return "it is made for filters that cover the whole map";
}

Conv2dVariant fully_connected(const std::string& name, const std::string& source,
                              const std::string& description, Layout layout,
                              cudaError_t (*launch)(const float*, const float*, float*,
                                                    const Connections&),
                              simt::Counters (*predict)(const conv::ConvLayer&, Layout)) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = source;
  variant.description = description;
  variant.layout = layout;
  variant.launch = [launch](const Conv2dCall& c) {
    return launch(c.input, c.filters, c.output, connections_of(c.layer));
  };
  variant.refuses = needs_all_of_the_map;
  variant.predict = [predict, layout](const conv::ConvLayer& layer) {
    return predict(layer, layout);
  };
  return variant;
}

Catalogue catalogue() {
  Catalogue ours;
  ours.maker = "halo";
  for (const Conv2dStage& stage : {conv2d_direct::stage(), multi_channel_stride_fixed::stage(),
                                   cuconv_two_stage::stage(), layout_convolution::stage()}) {
    Catalogue::add(ours.convolutions, stage.name, stage.variants);
  }
  Catalogue::add(ours.pooling, "11_fused_pooling", fused_pooling::stage().variants);
  Catalogue::add(ours.softmax, "12_fused_softmax", fused_softmax::stage().variants);
  Catalogue::add(ours.transforms, "10_layout_transform", layout_transform::stage().variants);
  Catalogue::add(ours.fully_connected, "13_network", fully_connected_variants());
  Catalogue::add(ours.bias_relu, "13_network", {bias_relu_variant()});
  return ours;
}

}  // namespace

std::vector<Conv2dVariant> fully_connected_variants() {
  const std::string tiled = "stages/13_network/2_fully_connected_tiled.cu";
  const std::string lanes = "stages/13_network/3_fully_connected_lanes.cu";
  return {
      fully_connected("tiled_nchw", tiled, "fully connected: tiles of 64 images x 64 outputs",
                      Layout::nchw, fully_connected_tiled_nchw, predict_tiled),
      fully_connected("tiled_chwn", tiled, "the same in CHWN", Layout::chwn,
                      fully_connected_tiled_chwn, predict_tiled),
      fully_connected("lanes_nchw", lanes, "fully connected: a warp an output of up to 4 images",
                      Layout::nchw, fully_connected_lanes_nchw, predict_lanes),
      fully_connected("lanes_chwn", lanes, "the same in CHWN", Layout::chwn,
                      fully_connected_lanes_chwn, predict_lanes),
  };
}

BiasReluVariant bias_relu_variant() {
  BiasReluVariant variant;
  variant.name = "bias_relu";
  variant.source = "stages/13_network/1_bias_relu.cu";
  variant.launch = [](const BiasRelu& problem, float* data, const float* bias) {
    return bias_relu(data, bias, problem.images.C(), inner_of(problem),
                     static_cast<int>(problem.images.size()), problem.relu);
  };
  variant.predict = predict_bias_relu;
  return variant;
}

NetworkStage stage() { return {"13_network", catalogue, HALO_DIGITS_FOLDER}; }

}  // namespace halo::network
