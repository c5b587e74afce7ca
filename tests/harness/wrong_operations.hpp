// Transforms, pooling layers and softmaxes that are computed wrongly, each in one way that is easy to
// write, and some that are right in an unusual way. They play the variants of a stage. `Problem` is
// conv::Transform, conv::PoolingLayer or conv::Softmax.
#pragma once

#include <vector>

#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"

namespace halo::test {

// Each must be rejected by the trials.
template <class Problem>
std::vector<Variant<Problem>> wrong_operations();

// Each must be accepted: other layouts, other orders of summation, a workspace.
template <class Problem>
std::vector<Variant<Problem>> right_operations();

// The plain loop.
template <class Problem>
Variant<Problem> plain_operation();

}  // namespace halo::test
