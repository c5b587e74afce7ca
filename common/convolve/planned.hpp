// Variants and contenders of a method whose plan for a layer on a GPU is a struct with `refusal` in it.
#pragma once

#include <string>
#include <utility>

#include "common/convolve/contender.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// For Conv2dVariant::prepare: plan_on(layer, gpu) for the present GPU; unless that refuses, fill(layer, plan, made) says
/// the rest.
template <class PlanOn, class Fill>
auto planned(PlanOn plan_on, Fill fill) {
  return [plan_on, fill](const conv::ConvLayer& layer) {
    const auto plan = plan_on(layer, gpus::present_limits());
    Prepared<conv::ConvLayer> made;
    made.refusal = plan.refusal;
    if (made.refusal.empty()) fill(layer, plan, made);
    return made;
  };
}

/// Launch and packing by the method's functions, which take what the plan decided: `how`.
template <class How>
void launch_and_pack(const conv::ConvLayer& layer, int (*launch)(const LayerCall&, const How&),
                     int (*pack)(const float*, float*, const LayerNumbers&, const How&),
                     const How& how, Prepared<conv::ConvLayer>& made) {
  made.launch = [=](const Conv2dCall& call) { return launch(kernel_call(call), how); };
  made.pack = [=, numbers = numbers_of(layer)](const float* filters, float* packed) {
    return pack(filters, packed, numbers, how);
  };
}

}  // namespace halo::convolve
