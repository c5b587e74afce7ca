#include "common/convolve/implicit_gemm/implicit_gemm.hpp"

#include <optional>
#include <string>

#include "common/convolve/implicit_gemm/plan.hpp"
#include "common/convolve/packed_filters.hpp"
#include "common/convolve/planned.hpp"

namespace halo::convolve {

// In implicit_gemm.cu.
int implicit_gemm(const LayerCall& call, const GemmPlan& plan);

namespace {

using conv::ConvLayer;

constexpr const char* kNoPlan = "no plan of its fits this GPU and this layer";

std::string count_of(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// With the plan, if any, that `choose` makes of a layer.
template <class Choose>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Choose choose) {
  struct Chosen {
    std::string refusal;
    GemmPlan plan;
  };
  Conv2dVariant v;
  v.name = name;
  v.source = "common/convolve/implicit_gemm/implicit_gemm.cu";
  v.description = description;
  v.plans = true;
  v.multiplies_ghosts = true;
  v.can_overlap = true;
  v.adds_bias = true;
  v.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = kQuad, .K = 16, .cells = kColumns}, {.K = 32}};
  };
  const auto plan_on = [choose](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    const std::optional<GemmPlan> plan = choose(layer, gpu);
    return plan ? Chosen{refuses(layer, *plan, gpu), *plan} : Chosen{kNoPlan, {}};
  };
  v.prepare =
      planned(plan_on, [](const ConvLayer& layer, const Chosen& chosen, Prepared<ConvLayer>& made) {
        const GemmPlan plan = chosen.plan;
        if (plan.packed) {
          made.packed_floats = gemm_packed_floats(numbers_of(layer));
          made.pack = [numbers = numbers_of(layer)](const float* filters, float* packed) {
            return pack_filters(filters, packed, numbers, kQuad * quads_of_tap(numbers),
                                packed_row(numbers), gemm_packed_floats(numbers));
          };
        }
        made.launch = [plan](const Conv2dCall& c) { return implicit_gemm(kernel_call(c), plan); };
        made.cost = [layer, plan] { return gemm_cost(layer, plan); };
        made.bias_cost = [layer, plan] { return gemm_bias_cost(layer, plan); };
        made.detail = [plan] {
          return "tiles of " + std::to_string(plan.filters) + " filters x " +
                 std::to_string(kColumns) + " outputs; the reduction over " +
                 count_of(plan.slices, "warp") + " and " + count_of(plan.split, "block");
        };
      });
  return v;
}

}  // namespace

Conv2dVariant implicit_gemm() {
  return variant_of("implicit_gemm",
                    "tuned: one matrix product, the reduction over warps and clusters of blocks",
                    plan_gemm);
}

Conv2dVariant unpacked_gemm() {
  return variant_of("unpacked_gemm", "implicit_gemm of filters of 1 x 1 as they are",
                    plan_unpacked_gemm);
}

std::vector<Conv2dVariant> implicit_gemm_of_each_plan() {
  std::vector<Conv2dVariant> all;
  for (const GemmPlan& plan : all_gemm_plans()) {
    all.push_back(variant_of(
        name_of(plan), "implicit_gemm with this plan, whatever the layer",
        [plan](const ConvLayer&, const gpus::GpuLimits&) { return std::optional(plan); }));
  }
  all.push_back(unpacked_gemm());
  return all;
}

std::vector<Contender> implicit_gemm_contenders() {
  std::vector<Contender> all;
  for (const GemmPlan& plan : all_gemm_plans()) {
    all.push_back({name_of(plan), [plan](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return offer_unless(refuses(layer, plan, gpu),
                                         [&] { return work_of(layer, plan); });
                   }});
  }
  all.push_back({"unpacked_gemm", [](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                   const std::optional<GemmPlan> plan = plan_unpacked_gemm(layer, gpu);
                   return offer_unless(plan ? "" : kNoPlan, [&] { return work_of(layer, *plan); });
                 }});
  return all;
}

}  // namespace halo::convolve
