#include "common/network/catalogue.hpp"

#include "common/harness/families/conv2d.hpp"

namespace halo::network {

namespace {

using conv::Layout;

template <class Variant>
std::int64_t workspace_of(const Variant& variant, const auto& problem) {
  return variant.workspace_floats ? variant.workspace_floats(problem) : 0;
}

// What all kinds of variants have alike.
template <class Variant>
Kernel begin(const std::string& stage, const Variant& variant, const auto& problem) {
  Kernel kernel;
  kernel.stage = stage;
  kernel.name = variant.name;
  kernel.source = variant.source;
  if (variant.predict) kernel.predict = [variant, problem] { return variant.predict(problem); };
  if (variant.detail) kernel.detail = [variant, problem] { return variant.detail(problem); };
  return kernel;
}

bool usable(const Conv2dVariant& variant, const conv::ConvLayer& layer) {
  // In fp32 throughout, as those that networks are compared with.
  const bool is_fp32 =
      variant.demand == conv::Demand::bounded || variant.demand == conv::Demand::transformed;
  return is_fp32 && variant.unavailable.empty() && !variant.set_up &&
         variant.chooses_from.empty() && refusal(variant, layer).empty();
}

Kernel bind(const std::string& stage, const Conv2dVariant& chooser, const conv::ConvLayer& layer,
            bool relu) {
  const Conv2dVariant variant = chooser.chosen ? chooser.chosen(layer) : chooser;
  Kernel kernel = begin(stage, variant, layer);
  kernel.problem = conv::label(layer);
  kernel.from = kernel.to = variant.layout;
  kernel.input_floats = layer.input_size();
  kernel.filters_floats = layer.filters_size();
  kernel.output_floats = layer.output_size();
  kernel.workspace_floats = workspace_of(variant, layer);
  kernel.demand = variant.demand;
  if (chooser.runs_as)
    kernel.detail = [runs_as = chooser.runs_as, layer] { return runs_as(layer); };
  if (variant.pack && variant.packed_floats(layer) > 0) {
    kernel.packed_floats = variant.packed_floats(layer);
    kernel.pack = [pack = variant.pack, layer](const Arrays& arrays, float* packed) {
      return pack(arrays.filters, packed, layer);
    };
  }
  kernel.adds_bias = variant.adds_bias;
  kernel.can_overlap = variant.can_overlap;
  if (variant.adds_bias) {
    kernel.bias_floats = layer.K();
    if (variant.predict && variant.predict_bias) {
      kernel.predict = [variant, layer] {
        Cost cost = variant.predict(layer);
        cost.add(variant.predict_bias(layer));
        return cost;
      };
    } else {
      kernel.predict = {};
    }
  }
  if (variant.launch) {
    kernel.launch = [variant, layer, relu](const Arrays& arrays) {
      return variant.launch({.layer = layer,
                             .input = arrays.input,
                             .filters = arrays.filters,
                             .output = arrays.output,
                             .workspace = arrays.workspace,
                             .packed = arrays.packed,
                             .overlaps = arrays.overlaps && variant.can_overlap,
                             .bias = variant.adds_bias ? arrays.bias : nullptr,
                             .relu = variant.adds_bias && relu});
    };
  }
  return kernel;
}

template <class Problem>
void add_operations(std::vector<Kernel>& kernels, const Catalogue::List<Variant<Problem>>& list,
                    const Problem& problem) {
  for (const auto& [stage, variant] : list) {
    if (variant.role == Role::copy || !variant.unavailable.empty()) continue;
    if (!refusal(variant, problem).empty()) continue;
    Kernel kernel = begin(stage, variant, problem);
    kernel.problem = conv::label(problem);
    kernel.from = kernel.to = variant.layout;
    kernel.input_floats = problem.input_size();
    kernel.output_floats = problem.output_size();
    kernel.workspace_floats = workspace_of(variant, problem);
    kernel.can_overlap = variant.can_overlap;
    kernel.launch = [variant = variant, problem](const Arrays& arrays) {
      return variant.launch({.problem = problem,
                             .input = arrays.input,
                             .output = arrays.output,
                             .workspace = arrays.workspace,
                             .overlaps = arrays.overlaps && variant.can_overlap});
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
    for (const auto& [stage, variant] : list) {
      if (usable(variant, sums)) kernels.push_back(bind(stage, variant, sums, weighted->relu));
    }
    for (const auto& [stage, fused] : catalogue.fused) {
      if (!usable(fused.sums, sums)) continue;
      Kernel kernel = bind(stage, fused.sums, sums, weighted->relu);
      kernel.adds_bias = true;
      kernel.bias_floats = sums.K();
      kernel.launch = [fused = fused, sums, relu = weighted->relu](const Arrays& arrays) {
        return fused.launch(
            {sums, arrays.input, arrays.filters, arrays.output, arrays.workspace, arrays.packed},
            arrays.bias, relu);
      };
      if (fused.detail) {
        kernel.detail = [fused = fused, sums, relu = weighted->relu] {
          return fused.detail(sums, relu);
        };
      }
      kernels.push_back(std::move(kernel));
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
    Kernel kernel = begin(stage, variant, problem);
    const conv::ImagesShape& shape = problem.images.shape();
    kernel.problem = std::to_string(shape.H) + "x" + std::to_string(shape.W) + "-" +
                     std::to_string(shape.N) + "-" + std::to_string(shape.C) +
                     (problem.relu ? "-relu" : "");
    kernel.from = kernel.to = layout;
    kernel.in_place = true;
    kernel.bias_floats = shape.C;
    kernel.output_floats = problem.images.size();
    kernel.launch = [variant = variant, problem](const Arrays& arrays) {
      return variant.launch(problem, arrays.output, arrays.bias);
    };
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
      if (!variant.refuses(together).empty()) continue;
      Kernel kernel = begin(stage, variant, together);
      kernel.can_overlap = variant.can_overlap;
      kernel.adds_bias = true;
      kernel.input_floats = input_of(together.front()).size();
      kernel.packed_floats = variant.packed_floats(together);
      kernel.pack = [variant = variant, together](const Arrays& arrays, float* packed) {
        return variant.pack(together, arrays, packed);
      };
      for (const Layer& layer : together) {
        const auto* weighted = std::get_if<Weighted>(&layer.work);
        kernel.problem += describe(layer) + "; ";
        kernel.of_layers.push_back({weighted != nullptr ? weighted->sums.filters_size() : 0,
                                    weighted != nullptr ? weighted->sums.K() : 0,
                                    output_of(layer).size()});
      }
      kernel.launch = [variant = variant, together](const Arrays& arrays) {
        return variant.launch(together, arrays);
      };
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
