#include "common/network/catalogue.hpp"

#include "common/harness/families/conv2d.hpp"

namespace halo::network {

namespace {

using conv::Layout;

// In fp32 throughout, as those that networks are compared with, or as the catalogue has it; and with its filters in arrays.
bool usable(const Catalogue& catalogue, const Prepared<conv::ConvLayer>& variant) {
  const bool is_fp32 =
      variant.demand == conv::Demand::bounded || variant.demand == conv::Demand::transformed;
  const bool may = is_fp32 || (catalogue.takes_split && conv::is_split(variant.demand));
  return variant.refusal.empty() && may && !variant.set_up;
}

Kernel bind(const std::string& stage, const Prepared<conv::ConvLayer>& variant,
            const conv::ConvLayer& layer, bool relu) {
  Kernel kernel;
  static_cast<Preparation&>(kernel) = variant;
  kernel.stage = stage;
  kernel.problem = conv::label(layer);
  kernel.from = kernel.to = variant.layout;
  kernel.input_floats = layer.input_size();
  kernel.filters_floats = layer.filters_size();
  kernel.output_floats = layer.output_size();
  if (variant.runs_as) kernel.detail = variant.runs_as;
  if (variant.packed_floats > 0) {
    kernel.pack = [pack = variant.pack](const Arrays& arrays, float* packed) {
      return pack(arrays.filters, packed);
    };
  }
  if (variant.adds_bias) {
    kernel.bias_floats = layer.K();
    kernel.cost = {};
    if (variant.cost && variant.bias_cost) {
      kernel.cost = [cost = variant.cost, of_bias = variant.bias_cost] {
        Cost both = cost();
        both.add(of_bias());
        return both;
      };
    }
  }
  kernel.launch = [launch = variant.launch, layer, relu, can_overlap = variant.can_overlap,
                   adds_bias = variant.adds_bias](const Arrays& arrays) {
    return launch({.layer = layer,
                   .input = arrays.input,
                   .filters = arrays.filters,
                   .output = arrays.output,
                   .workspace = arrays.workspace,
                   .packed = arrays.packed,
                   .overlaps = arrays.overlaps && can_overlap,
                   .bias = adds_bias ? arrays.bias : nullptr,
                   .relu = adds_bias && relu});
  };
  return kernel;
}

template <class Problem>
void add_operations(std::vector<Kernel>& kernels, const Catalogue::List<Variant<Problem>>& list,
                    const Problem& problem) {
  for (const auto& [stage, each] : list) {
    const Prepared<Problem> variant = each.prepared(problem);
    if (variant.role == Role::copy || !variant.refusal.empty()) continue;
    Kernel kernel;
    static_cast<Preparation&>(kernel) = variant;
    kernel.stage = stage;
    kernel.problem = conv::label(problem);
    kernel.from = kernel.to = variant.layout;
    kernel.input_floats = problem.input_size();
    kernel.output_floats = problem.output_size();
    kernel.launch = [launch = variant.launch, problem,
                     can_overlap = variant.can_overlap](const Arrays& arrays) {
      return launch({.problem = problem,
                     .input = arrays.input,
                     .output = arrays.output,
                     .workspace = arrays.workspace,
                     .overlaps = arrays.overlaps && can_overlap});
    };
    kernels.push_back(std::move(kernel));
  }
}

}  // namespace

std::string short_name(const Kernel& kernel) {
  const bool numbered = kernel.stage.size() > 2 && kernel.stage[2] == '_';
  return numbered ? kernel.stage.substr(0, 2) + " " + kernel.name : kernel.name;
}

std::vector<Kernel> kernels_for(const Catalogue& catalogue, const Layer& layer) {
  std::vector<Kernel> kernels;
  if (const auto* weighted = std::get_if<Weighted>(&layer.work)) {
    const conv::ConvLayer& sums = weighted->sums;
    const auto& list = kind_of(layer) == Kind::fully_connected ? catalogue.fully_connected
                                                               : catalogue.convolutions;
    for (const auto& [stage, each] : list) {
      if (!each.chooses_from.empty()) continue;
      const Prepared<conv::ConvLayer> variant = each.prepared(sums);
      if (usable(catalogue, variant)) kernels.push_back(bind(stage, variant, sums, weighted->relu));
    }
    for (const auto& [stage, fused] : catalogue.fused) {
      const Prepared<conv::ConvLayer> variant = fused.prepare(sums, weighted->relu);
      if (usable(catalogue, variant)) kernels.push_back(bind(stage, variant, sums, weighted->relu));
    }
  } else if (const auto* pooling = std::get_if<conv::PoolingLayer>(&layer.work)) {
    add_operations(kernels, catalogue.pooling, *pooling);
  } else {
    add_operations(kernels, catalogue.softmax, std::get<conv::Softmax>(layer.work));
  }
  return kernels;
}

std::vector<Kernel> bias_kernels_for(const Catalogue& catalogue, const Layer& layer,
                                     Layout layout) {
  std::vector<Kernel> kernels;
  const auto* weighted = std::get_if<Weighted>(&layer.work);
  if (weighted == nullptr) return kernels;
  const BiasRelu problem{output_of(layer), layout, weighted->relu};
  for (const auto& [stage, variant] : catalogue.bias_relu) {
    if (!variant.unavailable.empty()) continue;
    Kernel kernel = variant.prepare(problem);
    static_cast<About&>(kernel) = variant;
    const conv::ImagesShape& shape = problem.images.shape();
    kernel.stage = stage;
    kernel.problem = std::to_string(shape.H) + "x" + std::to_string(shape.W) + "-" +
                     std::to_string(shape.N) + "-" + std::to_string(shape.C) +
                     (problem.relu ? "-relu" : "");
    kernel.from = kernel.to = layout;
    kernel.in_place = true;
    kernel.bias_floats = shape.C;
    kernel.output_floats = problem.images.size();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::vector<Kernel> several_kernels_for(const Catalogue& catalogue,
                                        const std::vector<Layer>& layers, std::size_t first) {
  std::vector<Kernel> kernels;
  for (const auto& [stage, variant] : catalogue.several) {
    std::vector<Layer> together{layers[first]};
    for (std::size_t i = first + 1; i < layers.size(); ++i) {
      together.push_back(layers[i]);
      Kernel kernel = variant.prepare(together);
      if (!kernel.refusal.empty()) continue;
      static_cast<About&>(kernel) = variant;
      kernel.stage = stage;
      kernel.input_floats = input_of(together.front()).size();
      for (const Layer& layer : together) {
        const auto* weighted = std::get_if<Weighted>(&layer.work);
        kernel.problem += describe(layer) + "; ";
        kernel.of_layers.push_back({weighted != nullptr ? weighted->sums.filters_size() : 0,
                                    weighted != nullptr ? weighted->sums.K() : 0,
                                    output_of(layer).size()});
      }
      kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

std::vector<Kernel> transforms_for(const Catalogue& catalogue, const conv::Images& images,
                                   Layout from) {
  std::vector<Kernel> kernels;
  const conv::Transform problem(images, from);
  add_operations(kernels, catalogue.transforms, problem);
  for (Kernel& kernel : kernels) {
    kernel.from = problem.from();
    kernel.to = problem.to();
  }
  return kernels;
}

bool same_memory(const conv::Images& images) {
  return images.N() == 1 || images.size() == images.N();
}

}  // namespace halo::network
