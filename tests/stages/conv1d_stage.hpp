// What every 1D stage must show on its backend.
#pragma once

#include <memory>
#include <vector>

#include "common/harness/conv1d.hpp"

namespace halo::test {

// The backend this test was linked with. Skips the test case if there is no device.
std::unique_ptr<Backend> usable_backend();

// All variants: every adversarial shape right, no hazard.
void require_trials(const Conv1dStage& stage);

// All variants that are counted: predicted equals counted, on shapes that are easy to get wrong. Skips
// where the backend counts nothing.
void require_traffic(const Conv1dStage& stage);

// The variant's prediction for length 100,000, mask 9, 256 threads.
simt::Counters predict_known(const Conv1dStage& stage, const std::string& variant);

}  // namespace halo::test
