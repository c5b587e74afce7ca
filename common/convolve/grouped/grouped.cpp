#include "common/convolve/grouped/grouped.hpp"

#include "common/convolve/grouped/plan.hpp"
#include "common/gpus/present_gpu.hpp"

namespace halo::convolve {

// In grouped.cu. Shape and division are a plan's for the layer; of the call its arrays.
int grouped(const LayerCall& call, const GroupedShape& shape, const GroupedDivision& division);
int pack_grouped(const float* filters, float* packed, const GroupedShape& shape,
                 const GroupedDivision& division, long long floats);

namespace {

using conv::ConvLayer;

// With the plan that `plan_of` makes of a layer.
template <class PlanOf>
Conv2dVariant variant_of(const std::string& name, const std::string& description, PlanOf plan_of) {
  Conv2dVariant v;
  v.name = name;
  v.source = "common/convolve/grouped/grouped.cu";
  v.description = description;
  v.takes_groups_and_dilation = true;
  v.refuses = [plan_of](const ConvLayer& layer) { return plan_of(layer).refusal; };
  v.launch = [plan_of](const Conv2dCall& c) {
    const GroupedPlan plan = plan_of(c.layer);
    LayerCall call{};
    call.input = c.input, call.packed = c.packed, call.output = c.output;
    call.bias = c.bias, call.relu = c.relu;
    call.overlaps = c.overlaps, call.stream = c.stream;
    return grouped(call, plan.shape, plan.division);
  };
  v.packed_floats = [plan_of](const ConvLayer& layer) {
    return std::int64_t{plan_of(layer).packed_floats};
  };
  v.pack = [plan_of](const float* filters, float* packed, const ConvLayer& layer) {
    const GroupedPlan plan = plan_of(layer);
    return pack_grouped(filters, packed, plan.shape, plan.division, plan.packed_floats);
  };
  v.can_overlap = true;
  v.adds_bias = true;
  v.predict = [plan_of](const ConvLayer& layer) { return grouped_cost(layer, plan_of(layer)); };
  v.predict_bias = [plan_of](const ConvLayer& layer) {
    return grouped_bias_cost(layer, plan_of(layer));
  };
  v.detail = [plan_of](const ConvLayer& layer) { return described(plan_of(layer)); };
  v.plans = true;
  v.multiplies_ghosts = true;
  v.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.K = 8, .P = 4, .Q = 4}, {.K = 4, .P = 2}};
  };
  return v;
}

}  // namespace

Conv2dVariant grouped() {
  return variant_of(
      "grouped", "tuned: windows of few channels in registers; groups, depthwise, dilation",
      [](const ConvLayer& layer) { return plan_grouped(layer, gpus::present_limits()); });
}

std::vector<Conv2dVariant> grouped_of_each_shape() {
  std::vector<Conv2dVariant> all;
  for (const GroupedShape& s : grouped_shapes()) {
    std::string name = "grouped";
    for (const int number : {s.size, s.stride, s.filters, s.rows, s.columns}) {
      name += "_" + std::to_string(number);
    }
    all.push_back(variant_of(name, "grouped with this shape",
                             [s](const ConvLayer& layer) { return plan_grouped(layer, s); }));
  }
  return all;
}

std::vector<Contender> grouped_contenders() {
  Contender one;
  one.variant = "grouped";
  one.takes_groups_and_dilation = true;
  one.refuses = [](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_grouped(layer, gpu).refusal;
  };
  one.work = [](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return work_of(layer, plan_grouped(layer, gpu));
  };
  return {one};
}

}  // namespace halo::convolve
