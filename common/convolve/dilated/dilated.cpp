#include "common/convolve/dilated/dilated.hpp"

#include <algorithm>

#include "common/convolve/dilated/plan.hpp"

namespace halo::convolve {

// In dilated.cu, of a slice.
int gather_dilated(const float* input, float* gathered, int cells, const DilatedDivision& layer,
                   void* stream);
int scatter_dilated(const float* sums, float* output, const float* bias, bool relu, int outputs,
                    const DilatedDivision& layer, void* stream);

namespace {

using conv::ConvLayer;

int launch(const Conv2dCall& call, const PlainVariant& plain_of) {
  const DilatedPlan plan = plan_dilated(call.layer);
  const ConvLayer& plain = *plan.plain;
  const std::int64_t input = call.layer.input_size() / plan.slices;
  const std::int64_t outputs = call.layer.output_size() / plan.slices;
  float* const gathered = call.workspace;
  float* const sums = gathered + plan.gathered;
  const Conv2dVariant& inner = plain_of(plain);
  for (int slice = 0; slice < plan.slices; ++slice) {
    int failed = gather_dilated(call.input + slice * input, gathered,
                                static_cast<int>(plain.input_size()), plan.division, call.stream);
    if (failed == 0) {
      failed = inner.launch({.layer = plain,
                             .input = gathered,
                             .filters = call.filters,
                             .output = sums,
                             .workspace = sums + plan.sums,
                             .packed = call.packed,
                             .stream = call.stream});
    }
    if (failed == 0) {
      failed = scatter_dilated(sums, call.output + slice * outputs, call.bias, call.relu,
                               static_cast<int>(outputs), plan.division, call.stream);
    }
    if (failed != 0) return failed;
  }
  return 0;
}

}  // namespace

Conv2dVariant dilated(const PlainVariant& plain_of) {
  const auto inner = [plain_of](const ConvLayer& layer) -> const Conv2dVariant& {
    return plain_of(*plan_dilated(layer).plain);
  };
  Conv2dVariant v;
  v.name = "dilated";
  v.source = "common/convolve/dilated/dilated.cu";
  v.description = "tuned: a dilated layer as a plain one on more and smaller images";
  v.takes_groups_and_dilation = true;
  // The plain layer's kernel may be a transform.
  v.demand = conv::Demand::transformed;
  v.plans = true;
  v.multiplies_ghosts = true;
  v.refuses = [](const ConvLayer& layer) { return plan_dilated(layer).refusal; };
  v.launch = [plain_of](const Conv2dCall& call) { return launch(call, plain_of); };
  v.workspace_floats = [inner](const ConvLayer& layer) {
    const DilatedPlan plan = plan_dilated(layer);
    const Conv2dVariant& one = inner(layer);
    return plan.gathered + plan.sums +
           (one.workspace_floats ? one.workspace_floats(*plan.plain) : 0);
  };
  v.packed_floats = [inner](const ConvLayer& layer) {
    const Conv2dVariant& one = inner(layer);
    return one.packed_floats ? one.packed_floats(*plan_dilated(layer).plain) : 0;
  };
  v.pack = [inner](const float* filters, float* packed, const ConvLayer& layer) {
    return inner(layer).pack(filters, packed, *plan_dilated(layer).plain);
  };
  v.adds_bias = true;
  v.predict = [inner](const ConvLayer& layer) {
    const DilatedPlan plan = plan_dilated(layer);
    Cost cost = dilated_cost(layer, plan);
    for (int slice = 0; slice < plan.slices; ++slice) cost.add(inner(layer).predict(*plan.plain));
    return cost;
  };
  v.predict_bias = dilated_bias_cost;
  v.detail = [inner](const ConvLayer& layer) {
    return "as layer " + conv::label(*plan_dilated(layer).plain) + ", by " + inner(layer).name;
  };
  return v;
}

std::vector<Contender> dilated_contenders() {
  Contender one;
  one.variant = "dilated";
  one.takes_groups_and_dilation = true;
  one.refuses = [](const ConvLayer& layer, const gpus::GpuLimits&) {
    return plan_dilated(layer).refusal;
  };
  one.work = [](const ConvLayer& layer, const gpus::GpuLimits&) {
    const DilatedPlan plan = plan_dilated(layer);
    LaunchWork work;
    work.launches = 3 * plan.slices;
    work.blocks = static_cast<double>(plan.plain->input_size()) / 256;
    work.megabytes = 8e-6 * plan.slices *
                     static_cast<double>(plan.plain->input_size() + plan.plain->output_size());
    return work;
  };
  return {one};
}

}  // namespace halo::convolve
