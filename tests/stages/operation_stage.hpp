// What every stage of transforms, pooling or softmax must show on its backend. `Problem` is
// conv::Transform, conv::PoolingLayer or conv::Softmax.
#pragma once

#include <string>
#include <vector>

#include "common/harness/operation.hpp"

namespace halo::test {

// All variants: every adversarial problem that they take right, with every kind of input, no hazard;
// and each takes some.
template <class Problem>
void require_trials(const OperationStage<Problem>& stage);

// All variants that are counted: predicted equals counted, on every adversarial problem that they
// take, and on `more`. Skips where the backend counts nothing.
template <class Problem>
void require_traffic(const OperationStage<Problem>& stage, const std::vector<Problem>& more = {});

// The variant of that name.
template <class Problem>
const OperationVariant<Problem>& variant_of(const OperationStage<Problem>& stage,
                                            const std::string& name);

// The variant's prediction. Skips where the backend counts nothing, so that a GPU's test does not pass
// by arithmetic alone.
template <class Problem>
simt::Counters predict(const OperationStage<Problem>& stage, const std::string& variant,
                       const Problem& problem);

}  // namespace halo::test
