#include "common/convolve/implicit_gemm/implicit_gemm.hpp"

#include <optional>
#include <string>

#include "common/convolve/implicit_gemm/plan.hpp"
#include "common/convolve/packed_filters.hpp"
#include "common/gpus/present_gpu.hpp"

namespace halo::convolve {

// In implicit_gemm.cu.
int implicit_gemm(const LayerCall& call, const GemmPlan& plan);

namespace {

using conv::ConvLayer;

std::string count_of(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// With the plan, if any, that `choose` makes of a layer.
template <class Choose>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Choose choose) {
  const auto plan = [choose](const ConvLayer& layer) { return choose(layer).value(); };
  Conv2dVariant v;
  v.name = name;
  v.source = "common/convolve/implicit_gemm/implicit_gemm.cu";
  v.description = description;
  v.refuses = [choose](const ConvLayer& layer) -> std::string {
    const std::optional<GemmPlan> made = choose(layer);
    return made ? refuses(layer, *made, gpus::present_limits())
                : "no plan of its fits this GPU and this layer";
  };
  v.launch = [plan](const Conv2dCall& c) { return implicit_gemm(kernel_call(c), plan(c.layer)); };
  v.packed_floats = [](const ConvLayer& layer) { return gemm_packed_floats(numbers_of(layer)); };
  v.pack = [](const float* filters, float* packed, const ConvLayer& layer) {
    const LayerNumbers numbers = numbers_of(layer);
    return pack_filters(filters, packed, numbers, kQuad * quads_of_tap(numbers),
                        packed_row(numbers), gemm_packed_floats(numbers));
  };
  v.can_overlap = true;
  v.predict = [plan](const ConvLayer& layer) { return gemm_cost(layer, plan(layer)); };
  v.adds_bias = true;
  v.predict_bias = [plan](const ConvLayer& layer) { return gemm_bias_cost(layer, plan(layer)); };
  v.detail = [plan](const ConvLayer& layer) {
    const GemmPlan p = plan(layer);
    return "tiles of " + std::to_string(p.filters) + " filters x " + std::to_string(kColumns) +
           " outputs; the reduction over " + count_of(p.slices, "warp") + " and " +
           count_of(p.split, "block");
  };
  v.plans = true;
  v.multiplies_ghosts = true;
  v.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = kQuad, .K = 16, .cells = kColumns}, {.K = 32}};
  };
  return v;
}

}  // namespace

Conv2dVariant implicit_gemm() {
  return variant_of(
      "implicit_gemm", "tuned: one matrix product, the reduction over warps and clusters of blocks",
      [](const ConvLayer& layer) { return plan_gemm(layer, gpus::present_limits()); });
}

std::vector<Conv2dVariant> implicit_gemm_of_each_plan() {
  std::vector<Conv2dVariant> all;
  for (const GemmPlan& plan : all_gemm_plans()) {
    all.push_back(variant_of(name_of(plan), "implicit_gemm with this plan, whatever the layer",
                             [plan](const ConvLayer&) { return std::optional(plan); }));
  }
  return all;
}

std::vector<Contender> implicit_gemm_contenders() {
  std::vector<Contender> all;
  for (const GemmPlan& plan : all_gemm_plans()) {
    all.push_back(
        {name_of(plan),
         [plan](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
           return refuses(layer, plan, gpu);
         },
         [plan](const ConvLayer& layer, const gpus::GpuLimits&) { return work_of(layer, plan); }});
  }
  return all;
}

}  // namespace halo::convolve
