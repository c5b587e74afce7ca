// What a variant of the 2D family is made of. Apart from its programs, which read pictures and options: who only calls
// kernels is not linked with them.
#include <stdexcept>
#include <utility>

#include "common/data/cuconv_figures.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/families/promised.hpp"
#include "common/harness/families/trials.hpp"

namespace halo {

using conv::ConvLayer;

LayerNumbers numbers_of(const ConvLayer& l) {
  if (const std::string why = conv::refusal_of_sparse(l); !why.empty()) throw std::logic_error(why);
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
  variant.launch = [launch = kernel.launch](const Conv2dCall& c) { return launch(kernel_call(c)); };
  if (kernel.set_filters != nullptr) {
    variant.set_up = [set = kernel.set_filters](const float* filters, const ConvLayer& layer) {
      return set(filters, numbers_of(layer));
    };
  }
  if (kernel.refuses != nullptr) {
    variant.refuses = [refuses = kernel.refuses](const ConvLayer& layer) -> std::string {
      const char* const why = refuses(numbers_of(layer));
      return why != nullptr ? why : "";
    };
  }
  variant.tiles = fixed_tiles<ConvLayer>(kernel.tiles);
  variant.multiplies_ghosts = kernel.multiplies_ghosts;
  if (kernel.workspace_floats != nullptr) {
    variant.workspace_floats = [floats = kernel.workspace_floats](const ConvLayer& layer) {
      return std::int64_t{floats(numbers_of(layer))};
    };
  }
  if (kernel.pack != nullptr) {
    variant.packed_floats = [floats = kernel.packed_floats](const ConvLayer& layer) {
      return std::int64_t{floats(numbers_of(layer))};
    };
    variant.pack = [pack = kernel.pack](const float* filters, float* packed,
                                        const ConvLayer& layer) {
      return pack(filters, packed, numbers_of(layer));
    };
  }
  variant.can_overlap = kernel.can_overlap;
  variant.adds_bias = kernel.adds_bias;
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
