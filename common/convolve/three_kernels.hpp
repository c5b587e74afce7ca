// A variant of transforms there and back and products between, in kernels of their own.
#pragma once

#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// As `plan_of` divides a layer; the others are the method's functions, which get the plan or its division.
template <class PlanOf, class Pack, class Run, class Predict, class Bias>
Conv2dVariant in_three_kernels(PlanOf plan_of, Pack pack, Run run, Predict predict, Bias bias) {
  Conv2dVariant variant;
  variant.multiplies_ghosts = true;
  variant.refuses = [=](const conv::ConvLayer& layer) { return plan_of(layer).refusal; };
  variant.packed_floats = [=](const conv::ConvLayer& layer) {
    return plan_of(layer).packed_floats;
  };
  variant.workspace_floats = [=](const conv::ConvLayer& layer) {
    return plan_of(layer).workspace_floats;
  };
  variant.pack = [=](const float* filters, float* packed, const conv::ConvLayer& layer) {
    return pack(filters, packed, numbers_of(layer), plan_of(layer).division);
  };
  variant.launch = [=](const Conv2dCall& c) {
    return run(kernel_call(c), plan_of(c.layer).division);
  };
  variant.predict = [=](const conv::ConvLayer& layer) { return predict(layer, plan_of(layer)); };
  variant.adds_bias = true;
  variant.predict_bias = [=](const conv::ConvLayer& layer) { return bias(layer, plan_of(layer)); };
  return variant;
}

}  // namespace halo::convolve
