// What a variant of the 2D family is made of. Apart from its programs, which read pictures and options: who only calls
// kernels is not linked with them.
#include <stdexcept>
#include <utility>

#include "common/data/cuconv_figures.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/trials.hpp"

namespace halo {

using conv::ConvLayer;

LayerNumbers numbers_of(const ConvLayer& l) {
  if (const std::string why = conv::refusal_of_dilation(l); !why.empty()) {
    throw std::logic_error(why);
  }
  return {l.N(), l.C(), l.H(),        l.W(),        l.K(),         l.R(),        l.S(),
          l.P(), l.Q(), l.stride_h(), l.stride_w(), l.padding_h(), l.padding_w()};
}

LayerCall kernel_call(const Conv2dCall& c) {
  return {numbers_of(c.layer), c.input,  c.filters, c.output, c.workspace, c.packed,
          c.overlaps,          c.stream, c.bias,    c.relu};
}

void add(Conv2dStage& stage, const char* name, const char* source, const LayerKernel& kernel) {
  auto variant = described<ConvLayer>(name, source, kernel);
  variant.demand = demand_of(kernel.arithmetic);
  variant.layout = kernel.chwn ? conv::Layout::chwn : conv::Layout::nchw;
  variant.tiles = fixed_tiles<ConvLayer>(kernel.tiles);
  variant.multiplies_ghosts = kernel.multiplies_ghosts;
  variant.can_overlap = kernel.can_overlap;
  variant.adds_bias = kernel.adds_bias;
  variant.prepare = [kernel](const ConvLayer& layer) {
    Prepared<ConvLayer> made;
    const LayerNumbers numbers = numbers_of(layer);
    const char* const why = kernel.refuses != nullptr ? kernel.refuses(numbers) : nullptr;
    if (why != nullptr) made.refusal = why;
    if (!made.refusal.empty()) return made;
    made.launch = [launch = kernel.launch](const Conv2dCall& c) { return launch(kernel_call(c)); };
    if (kernel.set_filters != nullptr) {
      made.set_up = [set = kernel.set_filters, numbers](const float* filters) {
        return set(filters, numbers);
      };
    }
    if (kernel.workspace_floats != nullptr)
      made.workspace_floats = kernel.workspace_floats(numbers);
    if (kernel.pack != nullptr) {
      made.packed_floats = kernel.packed_floats(numbers);
      made.pack = [pack = kernel.pack, numbers](const float* filters, float* packed) {
        return pack(filters, packed, numbers);
      };
    }
    return made;
  };
  stage.variants.push_back(std::move(variant));
}

Published printed_by_cuconv(const ConvLayer& layer) {
  const auto line = data::cuconv_figures(layer);
  if (!line) return {};
  return {
      "cuConv, Table " + std::to_string(line->table) + ", Tesla V100; of cuDNN " + line->best_cudnn,
      {{"cuconv_us", line->cuconv_us}, {"best_cudnn_us", line->best_cudnn_us}}};
}

}  // namespace halo
