#include "common/convolve/grouped/grouped.hpp"

#include "common/convolve/grouped/plan.hpp"
#include "common/convolve/planned.hpp"

namespace halo::convolve {

// In grouped.cu. Shape and division are a plan's for the layer; of the call its arrays.
int grouped(const LayerCall& call, const GroupedShape& shape, const GroupedDivision& division);
int pack_grouped(const float* filters, float* packed, const GroupedShape& shape,
                 const GroupedDivision& division, long long floats);

namespace {

using conv::ConvLayer;

// With the plan that `plan_on` makes of a layer on a GPU.
template <class PlanOn>
Conv2dVariant variant_of(const std::string& name, const std::string& description, PlanOn plan_on) {
  Conv2dVariant v;
  v.name = name;
  v.source = "common/convolve/grouped/grouped.cu";
  v.description = description;
  v.takes_groups = true;
  v.takes_dilation = true;
  v.can_overlap = true;
  v.adds_bias = true;
  v.plans = true;
  v.multiplies_ghosts = true;
  v.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.K = 8, .P = 4, .Q = 4}, {.K = 4, .P = 2}};
  };
  v.prepare = planned(
      plan_on, [](const ConvLayer& layer, const GroupedPlan& plan, Prepared<ConvLayer>& made) {
        made.packed_floats = plan.packed_floats;
        made.pack = [plan](const float* filters, float* packed) {
          return pack_grouped(filters, packed, plan.shape, plan.division, plan.packed_floats);
        };
        made.launch = [plan](const Conv2dCall& c) {
          LayerCall call{};
          call.input = c.input, call.packed = c.packed, call.output = c.output;
          call.bias = c.bias, call.relu = c.relu;
          call.overlaps = c.overlaps, call.stream = c.stream;
          return grouped(call, plan.shape, plan.division);
        };
        made.cost = [layer, plan] { return grouped_cost(layer, plan); };
        made.bias_cost = [layer, plan] { return grouped_bias_cost(layer, plan); };
        made.detail = [plan] { return described(plan); };
      });
  return v;
}

}  // namespace

Conv2dVariant grouped() {
  return variant_of(
      "grouped", "tuned: windows of few channels in registers; groups, depthwise, dilation",
      [](const ConvLayer& layer, const gpus::GpuLimits& gpu) { return plan_grouped(layer, gpu); });
}

std::vector<Conv2dVariant> grouped_of_each_shape() {
  std::vector<Conv2dVariant> all;
  for (const GroupedShape& s : grouped_shapes()) {
    std::string name = "grouped";
    for (const int number : {s.size, s.stride, s.filters, s.rows, s.columns}) {
      name += "_" + std::to_string(number);
    }
    all.push_back(variant_of(
        name, "grouped with this shape",
        [s](const ConvLayer& layer, const gpus::GpuLimits&) { return plan_grouped(layer, s); }));
  }
  return all;
}

std::vector<Contender> grouped_contenders() {
  Contender one;
  one.variant = "grouped";
  one.offer = [](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    const auto plan = plan_grouped(layer, gpu);
    return offer_unless(plan.refusal, [&] { return work_of(layer, plan); });
  };
  return {one};
}

}  // namespace halo::convolve
