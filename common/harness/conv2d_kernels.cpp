#include "common/harness/conv2d.hpp"
#include "common/harness/kernels.hpp"

namespace halo {

LayerNumbers numbers_of(const conv::ConvLayer& l) {
  return {l.N(), l.C(), l.H(),        l.W(),        l.K(),         l.R(),        l.S(),
          l.P(), l.Q(), l.stride_h(), l.stride_w(), l.padding_h(), l.padding_w()};
}

void add(Conv2dStage& stage, const char* name, const char* source, const LayerKernel& kernel) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = source;
  variant.description = described(kernel.description, kernel.tuned);
  variant.layout = kernel.chwn ? conv::Layout::chwn : conv::Layout::nchw;
  variant.launch = [launch = kernel.launch](const Conv2dCall& c) {
    return launch({numbers_of(c.layer), c.input, c.filters, c.output, c.workspace});
  };
  if (kernel.set_filters != nullptr) {
    variant.set_filters = [set = kernel.set_filters](const float* filters,
                                                     const conv::ConvLayer& layer) {
      return set(filters, numbers_of(layer));
    };
  }
  if (kernel.refuses != nullptr) {
    variant.refuses = [refuses = kernel.refuses](const conv::ConvLayer& layer) -> std::string {
      const char* const why = refuses(numbers_of(layer));
      return why != nullptr ? why : "";
    };
  }
  if (kernel.workspace_floats != nullptr) {
    variant.workspace_floats = [floats = kernel.workspace_floats](const conv::ConvLayer& layer) {
      return std::int64_t{floats(numbers_of(layer))};
    };
  }
  stage.variants.push_back(std::move(variant));
}

}  // namespace halo
