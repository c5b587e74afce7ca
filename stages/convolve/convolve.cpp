#include "stages/convolve/convolve.hpp"

#include "common/gpus/present_gpu.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

std::string name_of(Products products, Choice choice, Calls calls) {
  return std::string(products == Products::fp32 ? "convolve" : "convolve_split") +
         (calls == Calls::packed ? "" : std::string("_") + word_for(calls)) +
         (choice == Choice::rule ? "" : "_measured");
}

std::string plan(const ConvLayer& layer, const std::string& key) {
  const gpus::GpuFigures& gpu = key.empty() ? gpus::present_gpu() : gpus::built_in_gpu(key);
  const ChoiceOn on{gpu.name, key.empty() ? gpus::present_limits() : gpus::limits_of(gpu)};
  return explain(rule_for(gpu.name), with_papers(Products::split_tf32).contenders, layer, on);
}

}  // namespace

Conv2dVariant variant(Products products, Epilogue epilogue, Choice choice_by, Calls calls) {
  const Contenders& among = with_papers(products);
  const auto chosen_for = [&among, epilogue, choice_by, calls](const ConvLayer& layer) {
    const Conv2dVariant* const one = chosen(layer, among, epilogue, choice_by, calls);
    return one != nullptr ? one : chosen(layer, among, Epilogue::none, choice_by, calls);
  };
  Conv2dVariant variant;
  variant.name = name_of(products, choice_by, calls);
  variant.source = "stages/convolve/convolve.cpp";
  variant.description =
      "the fastest of our kernels for the layer, by a rule fitted to measured times";
  if (products == Products::split_tf32) variant.description += "; those on tensor cores too";
  if (calls == Calls::packing) variant.description += "; with its packing";
  if (calls == Calls::overlapping) variant.description += "; of calls that overlap";
  if (choice_by == Choice::measured) variant.description += "; else measured at first use";
  variant.plans = true;
  variant.takes_groups = true;
  variant.takes_dilation = true;
  variant.prepare = [chosen_for, name = variant.name](const ConvLayer& layer) {
    const Conv2dVariant* const one = chosen_for(layer);
    Prepared<ConvLayer> made;
    if (one == nullptr) {
      made.refusal = "none of our kernels takes it";
      return made;
    }
    made = one->prepared(layer);
    made.name = name;
    made.runs_as = [one] { return one->name; };
    return made;
  };
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
