// The variants of stage 13, and the stages that it is built of.
#include "stages/13_network/variants.hpp"

#include "common/convolve/warpgroup/warpgroup.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/network/networks.hpp"
#include "stages/06_conv2d_direct.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/09_cuconv_two_stage.hpp"
#include "stages/10_layout_convolution.hpp"
#include "stages/10_layout_transform.hpp"
#include "stages/11_fused_pooling.hpp"
#include "stages/12_fused_softmax.hpp"
#include "stages/13_network/costs.hpp"
#include "stages/13_network/digits_folder.hpp"
#include "stages/13_network/fused_lenet.hpp"
#include "stages/13_network/on_chip_division.hpp"
#include "stages/convolve/convolve.hpp"

namespace halo::network {

// In 1_bias_relu.cu; and at the end of the files of fully connected layers.
int bias_relu(float* data, const float* bias, int channels, int inner, int count, bool relu);
int on_chip(int blocks, int images, const float* input, const float* packed, float* output,
            const OnChip& net, bool overlaps);
int fused_lenet(int images, const float* input, const LenetArrays& net);
int pack_on_chip(int blocks, const float* filters, const float* biases, float* packed,
                 const OnChipStep& step, int taps, int pitch, int floats);
LayerKernel tiled_nchw();
LayerKernel tiled_chwn();
LayerKernel lanes_nchw();
LayerKernel lanes_chwn();
LayerKernel rows();

namespace {

using conv::ConvLayer;

using convolve::Products;

// The dispatcher, as a kernel among the others: most of those that it chooses from are not offered.
Conv2dVariant convolution(Products products) {
  Conv2dVariant variant = convolve::variant(products, convolve::Epilogue::bias_relu);
  variant.chooses_from.clear();
  return variant;
}

// [doc:across_images]
// In CHWN the images of a fully connected layer are [features][N], as a map of N pixels with so many channels is; and
// its outputs [K][N]. So it is a layer of 1 x 1 filters on one image, by any kernel for those.
ConvLayer across_images(const ConvLayer& layer) {
  return ConvLayer({.N = 1,
                    .C = layer.products_per_output(),
                    .H = 1,
                    .W = layer.N(),
                    .K = layer.K(),
                    .R = 1,
                    .S = 1});
}
// [/doc:across_images]

Conv2dVariant across_images(const Conv2dVariant& of_pixels, const std::string& name) {
  Conv2dVariant variant = of_pixels;
  variant.takes_groups = variant.takes_dilation = false;  // a layer of pixels has neither
  variant.name = name;
  variant.description =
      "fully connected: images as the pixels of one map, by stage 08's or 09's kernel";
  variant.layout = conv::Layout::chwn;
  variant.prepare = [of_pixels, name, description = variant.description](const ConvLayer& layer) {
    Prepared<ConvLayer> made;
    if (!layer.filters_cover_map()) {
      made.refusal = "it is made for filters that cover the whole map";
      return made;
    }
    const ConvLayer pixels = across_images(layer);
    made = of_pixels.prepared(pixels);
    made.name = name;
    made.description = description;
    made.layout = conv::Layout::chwn;
    made.published = {};
    made.launch = [launch = made.launch, pixels](Conv2dCall call) {
      call.layer = pixels;
      return launch(call);
    };
    return made;
  };
  variant.tiles = [](const ConvLayer&) { return std::vector<TileSizes>{{.N = 32, .K = 32}}; };
  return variant;
}

Catalogue catalogue(Products products) {
  Catalogue ours;
  ours.takes_split = products == Products::split_tf32;
  ours.maker = "halo";
  for (const Conv2dStage& stage : {conv2d_direct::stage(), multi_channel_stride_fixed::stage(),
                                   cuconv_two_stage::stage(), layout_convolution::stage()}) {
    Catalogue::add(ours.convolutions, stage.name, stage.variants);
  }
  Catalogue::add(ours.convolutions, "convolve", {convolution(Products::fp32)});
  Catalogue::add(ours.pooling, "11_fused_pooling", fused_pooling::stage().variants);
  Catalogue::add(ours.softmax, "12_fused_softmax", fused_softmax::stage().variants);
  Catalogue::add(ours.transforms, "10_layout_transform", layout_transform::stage().variants);
  Catalogue::add(ours.fully_connected, "13_network", fully_connected_variants());
  Catalogue::add(ours.bias_relu, "13_network", {bias_relu_variant()});
  Catalogue::add(ours.several, "13_network", on_chip_variants());
  Catalogue::add(ours.several, "13_network", {fused_lenet_variant()});
  if (ours.takes_split) {
    Catalogue::add(ours.convolutions, "convolve", {convolution(Products::split_tf32)});
    Catalogue::add(ours.fully_connected, "13_network", {convolve::warpgroup_fully_connected()});
  }
  return ours;
}

}  // namespace

std::vector<Conv2dVariant> fully_connected_variants() {
  const char* const tiled = "stages/13_network/2_fully_connected_tiled.cu";
  const char* const lanes = "stages/13_network/3_fully_connected_lanes.cu";
  Conv2dStage all;
  add(all, "tiled_nchw", tiled, tiled_nchw());
  add(all, "tiled_chwn", tiled, tiled_chwn());
  add(all, "lanes_nchw", lanes, lanes_nchw());
  add(all, "lanes_chwn", lanes, lanes_chwn());
  for (Conv2dVariant& each : all.variants) {
    const auto predict = each.source == tiled ? predict_tiled : predict_lanes;
    const auto of_bias = each.source == tiled ? bias_of_tiled : bias_of_lanes;
    each.also([predict, of_bias, layout = each.layout](const ConvLayer& layer, auto& made) {
      made.cost = [=] { return predict(layer, layout); };
      made.bias_cost = [=] { return of_bias(layer, layout); };
    });
  }
  add(all, "rows", "stages/13_network/6_fully_connected_rows.cu", rows());
  all.variants.back().also([](const ConvLayer& layer, auto& made) {
    made.cost = [=] { return predict_rows(layer); };
    made.bias_cost = [=] { return bias_of_rows(layer); };
  });
  all.variants.push_back(across_images(convolution(Products::fp32), "convolve_chwn"));
  Conv2dStage tiles = multi_channel_stride_fixed::stage(), products = cuconv_two_stage::stage();
  all.variants.push_back(across_images(variant(tiles, "register_tile"), "register_tile_chwn"));
  all.variants.push_back(across_images(variant(products, "implicit_gemm"), "implicit_gemm_chwn"));
  return all.variants;
}

BiasReluVariant bias_relu_variant() {
  BiasReluVariant variant;
  variant.name = "bias_relu";
  variant.source = "stages/13_network/1_bias_relu.cu";
  variant.prepare = [](const BiasRelu& problem) {
    Kernel kernel;
    kernel.launch = [problem](const Arrays& arrays) {
      return bias_relu(arrays.output, arrays.bias, problem.images.C(), inner_of(problem),
                       static_cast<int>(problem.images.size()), problem.relu);
    };
    kernel.cost = [problem] { return predict_bias_relu(problem); };
    return kernel;
  };
  return variant;
}

std::vector<SeveralVariant> on_chip_variants() {
  std::vector<SeveralVariant> variants;
  // One image has the whole GPU to itself, a batch has a block for each of its images.
  for (const int blocks : {1, 2, 4, 8, 16}) {
    SeveralVariant variant;
    variant.name = "on_chip_" + std::to_string(blocks);
    variant.source = "stages/13_network/4_on_chip.cu";
    variant.can_overlap = true;
    variant.adds_bias = true;
    variant.prepare = [blocks](const std::vector<Layer>& layers) {
      Kernel kernel;
      kernel.refusal = refuses_on_chip(layers, blocks, gpus::present_limits());
      if (!kernel.refusal.empty()) return kernel;
      const OnChipDivision division = divide_on_chip(layers, blocks);
      kernel.packed_floats = division.packed_floats(blocks);
      kernel.pack = [blocks, division](const Arrays& arrays, float* packed) {
        for (int i = 0; i < division.net.count; ++i) {
          const OnChipStep& step = division.net.step[i];
          const LayerArrays& its = arrays.of_layers[division.layer_of_step[i]];
          if (step.size < 0) continue;
          if (const int error =
                  pack_on_chip(blocks, its.filters, its.bias, packed, step, division.taps[i],
                               division.pitch[i], 4 * division.net.packed_quads);
              error != 0) {
            return error;
          }
        }
        return 0;
      };
      kernel.launch = [blocks, division,
                       images = input_of(layers.front()).N()](const Arrays& arrays) {
        OnChip net = division.net;
        for (int i = 0; i < net.count; ++i) {
          OnChipStep& step = net.step[i];
          const LayerArrays* its = &arrays.of_layers[division.layer_of_step[i]];
          if (step.size >= 0) step.sums = its++->output;
          if (step.window > 0) step.pooled = its->output;
        }
        return on_chip(blocks, images, arrays.input, arrays.packed, arrays.of_layers.back().output,
                       net, arrays.overlaps);
      };
      kernel.cost = [blocks, layers] { return predict_on_chip(layers, blocks); };
      kernel.detail = [blocks, count = layers.size(), bytes = division.net.bytes] {
        return std::to_string(count) + " layers, " + std::to_string(blocks) +
               (blocks == 1 ? " block" : " blocks") + " per image, " + std::to_string(bytes) +
               " bytes of shared memory each";
      };
      return kernel;
    };
    variants.push_back(variant);
  }
  return variants;
}

SeveralVariant fused_lenet_variant() {
  SeveralVariant variant;
  variant.name = "fused_lenet";
  variant.source = "stages/13_network/5_fused_lenet.cu";
  variant.adds_bias = true;
  variant.prepare = [](const std::vector<Layer>& layers) {
    Kernel kernel;
    const int images = input_of(layers.front()).N();
    const std::vector<Layer> taken = make_network("lenet", images).layers();
    const auto alike = [](const Layer& a, const Layer& b) { return describe(a) == describe(b); };
    if (!std::equal(layers.begin(), layers.end(), taken.begin(), taken.end(), alike)) {
      kernel.refusal = "it is made for LeNet, all of it";
      return kernel;
    }
    kernel.launch = [layers, images](const Arrays& arrays) {
      LenetArrays net{};
      int weighted = 0;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const LayerArrays& its = arrays.of_layers[i];
        net.outputs[i] = its.output;
        if (!std::holds_alternative<Weighted>(layers[i].work)) continue;
        net.filters[weighted] = its.filters;
        net.biases[weighted++] = its.bias;
      }
      return fused_lenet(images, arrays.input, net);
    };
    kernel.cost = [images] { return predict_fused_lenet(images); };
    return kernel;
  };
  return variant;
}

void complete(NetworkStage& stage) {
  stage.catalogue = [] { return catalogue(Products::fp32); };
  stage.split = [] { return catalogue(Products::split_tf32); };
  stage.digits = HALO_DIGITS_FOLDER;
}

}  // namespace halo::network
