// What every 2D stage must show on its backend.
#pragma once

#include <string>
#include <vector>

#include "common/harness/conv2d.hpp"

namespace halo::test {

// All variants: every adversarial layer that they take right, no hazard; and each takes some.
void require_trials(const Conv2dStage& stage);

// All variants that are counted: predicted equals counted, on every adversarial layer that they take,
// and on `more`. Skips where the backend counts nothing.
void require_traffic(const Conv2dStage& stage, const std::vector<conv::ConvLayer>& more = {});

// The variant's prediction. Skips where the backend counts nothing, so that a GPU's test does not pass
// by arithmetic alone.
simt::Counters predict(const Conv2dStage& stage, const std::string& variant,
                       const conv::ConvLayer& layer);

}  // namespace halo::test
