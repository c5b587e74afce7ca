// What every 1D stage must show on its backend.
#pragma once

#include <vector>

#include "common/harness/conv1d.hpp"

namespace halo::test {

// All variants: every adversarial shape right, no hazard.
void require_trials(const Conv1dStage& stage);

// All variants that are counted: predicted equals counted, on shapes that are easy to get wrong. Skips
// where the backend counts nothing.
void require_traffic(const Conv1dStage& stage);

// The shape of the known answers: length 100,000, mask 9, 256 threads.
inline const Conv1dShape kKnownShape = {100'000, 9, 0, 100'000, 256};

// The variant's prediction. Skips where the backend counts nothing, so that a GPU's test does not pass
// by arithmetic alone.
simt::Counters predict(const Conv1dStage& stage, const std::string& variant,
                       const Conv1dShape& shape = kKnownShape);

}  // namespace halo::test
