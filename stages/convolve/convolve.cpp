#include "stages/convolve/convolve.hpp"

#include <stdexcept>

#include "common/gpus/present_gpu.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

std::string name_of(Products products, Choice choice) {
  return std::string(products == Products::fp32 ? "convolve" : "convolve_split") +
         (choice == Choice::rule ? "" : "_measured");
}

std::string plan(const ConvLayer& layer, const std::string& key) {
  const gpus::GpuFigures& gpu = key.empty() ? gpus::present_gpu() : gpus::built_in_gpu(key);
  const ChoiceOn on{gpu.name, key.empty() ? gpus::present_limits() : gpus::limits_of(gpu)};
  return explain(rule_for(gpu.name), with_papers(Products::split_tf32).contenders, layer, on);
}

}  // namespace

Conv2dVariant variant(Products products, Epilogue epilogue, Choice choice_by) {
  const Contenders& among = with_papers(products);
  const auto chosen_for = [&among, epilogue, choice_by](const ConvLayer& layer) {
    const Conv2dVariant* const one = chosen(layer, among, epilogue, choice_by);
    return one != nullptr ? one : chosen(layer, among, Epilogue::none, choice_by);
  };
  // Of a layer that it takes.
  const auto choice = [chosen_for](const ConvLayer& layer) -> const Conv2dVariant& {
    const Conv2dVariant* const one = chosen_for(layer);
    if (one == nullptr) throw std::invalid_argument("layer " + conv::label(layer) + " was refused");
    return *one;
  };
  Conv2dVariant variant;
  variant.name = name_of(products, choice_by);
  variant.source = "stages/convolve/convolve.cpp";
  variant.description =
      "the fastest of our kernels for the layer, by a rule fitted to measured times";
  if (products == Products::split_tf32) variant.description += "; those on tensor cores too";
  if (choice_by == Choice::measured) variant.description += "; else measured at first use";
  variant.plans = true;
  variant.takes_groups_and_dilation = true;
  variant.refuses = [chosen_for](const ConvLayer& layer) -> std::string {
    return chosen_for(layer) == nullptr ? "none of our kernels takes it" : "";
  };
  variant.chosen = [choice, name = variant.name](const ConvLayer& layer) {
    Conv2dVariant one = choice(layer);
    one.name = name;
    return one;
  };
  variant.launch = [choice](const Conv2dCall& call) { return choice(call.layer).launch(call); };
  variant.workspace_floats = [choice](const ConvLayer& layer) {
    const Conv2dVariant& one = choice(layer);
    return one.workspace_floats ? one.workspace_floats(layer) : 0;
  };
  variant.packed_floats = [choice](const ConvLayer& layer) {
    const Conv2dVariant& one = choice(layer);
    return one.packed_floats ? one.packed_floats(layer) : 0;
  };
  variant.pack = [choice](const float* filters, float* packed, const ConvLayer& layer) {
    return choice(layer).pack(filters, packed, layer);
  };
  variant.predict = [choice](const ConvLayer& layer) { return choice(layer).predict(layer); };
  variant.runs_as = [choice](const ConvLayer& layer) { return choice(layer).name; };
  for (const Conv2dVariant& one : among.variants) variant.chooses_from.push_back(one.name);
  return variant;
}

Conv2dStage stage() {
  Conv2dStage stage;
  stage.name = "convolve";
  stage.variants = {variant()};
  if (with_papers(Products::split_tf32).variants.size() >
      with_papers(Products::fp32).variants.size()) {
    stage.variants.push_back(variant(Products::split_tf32));
  }
  // On the simulator, which has no times, this is `convolve` once more.
  stage.searched = {variant(Products::fp32, Epilogue::none, Choice::measured)};
  stage.plan = plan;
  return stage;
}

}  // namespace halo::convolve
