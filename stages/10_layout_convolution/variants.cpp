// The variants of stage 10's convolutions.
#include "common/planning/layout_choice.hpp"
#include "stages/10_layout_convolution/costs.hpp"
#include "stages/10_layout_convolution/layout_convolution.hpp"
#include "stages/10_layout_convolution/stage.hpp"

namespace halo::layout_convolution {

namespace {

using conv::ConvLayer;

Layer layer_of(const ConvLayer& layer) {
  return {layer.N(),        layer.C(),         layer.H(),        layer.W(), layer.K(),
          layer.R(),        layer.S(),         layer.P(),        layer.Q(), layer.stride_h(),
          layer.stride_w(), layer.padding_h(), layer.padding_w()};
}

Layout layout_of(conv::Layout layout, int N, int channels, int rows, int columns) {
  return layout == conv::Layout::nchw ? nchw(channels, rows, columns) : chwn(N, rows, columns);
}
Layout input_layout(conv::Layout layout, const ConvLayer& l) {
  return layout_of(layout, l.N(), l.C(), l.H(), l.W());
}
Layout output_layout(conv::Layout layout, const ConvLayer& l) {
  return layout_of(layout, l.N(), l.K(), l.P(), l.Q());
}

std::string described(const Division& division) {
  const std::int64_t blocks = division.column_groups * division.filter_groups;
  return std::to_string(division.columns) + " x " + std::to_string(division.filters) +
         " sums a thread, " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

Conv2dVariant across_lanes(Across across, conv::Layout layout) {
  const bool images = across == Across::images;
  const bool in_nchw = layout == conv::Layout::nchw;
  Conv2dVariant variant;
  variant.name = std::string(images ? "images_" : "pixels_") + (in_nchw ? "nchw" : "chwn");
  variant.source = std::string("stages/10_layout_convolution/") +
                   (images ? "1_images_across_lanes.cu" : "2_pixels_across_lanes.cu");
  variant.description = std::string(images ? "images" : "pixels") + " across the lanes, maps in " +
                        (in_nchw ? "NCHW" : "CHWN");
  variant.layout = layout;
  variant.launch = [images, layout](const Conv2dCall& c) -> int {
    const auto convolve = images ? images_across_lanes : pixels_across_lanes;
    return convolve(c.input, c.filters, c.output, layer_of(c.layer), input_layout(layout, c.layer),
                    output_layout(layout, c.layer));
  };
  variant.predict = [across, layout](const ConvLayer& layer) {
    return predict(layer, across, layout);
  };
  variant.detail = [across](const ConvLayer& layer) { return described(divide(layer, across)); };
  return variant;
}

std::string plan(const ConvLayer& layer, const std::string& gpu) {
  const std::vector<Thresholds> all =
      gpu.empty() ? published_thresholds() : std::vector{published_thresholds_of(gpu)};
  return explain(layer, all);
}

}  // namespace

Conv2dStage stage() {
  Conv2dStage stage;
  stage.name = "10_layout_convolution";
  // Each pair differs in one thing: the layout, or the implementation.
  stage.variants = {across_lanes(Across::images, conv::Layout::chwn),
                    across_lanes(Across::images, conv::Layout::nchw),
                    across_lanes(Across::pixels, conv::Layout::nchw),
                    across_lanes(Across::pixels, conv::Layout::chwn)};
  stage.plan = plan;
  // One layer with many images, as many as a warp has lanes, and one: with N = 1 the layouts are one.
  stage.simulated = "8-128-3-16-4,8-32-3-16-4,8-1-3-16-4";
  stage.measured =
      "24-128-5-64-3,13-128-3-384-256,13-32-3-384-256,13-1-3-384-256";  // CV3 and CV7 of the paper
  return stage;
}

}  // namespace halo::layout_convolution
