// 1D convolutions that are wrong, each in one way that is easy to write, and some that are right in
// an unusual way. They play the variants of a stage.
#pragma once

#include <vector>

#include "common/harness/families/conv1d.hpp"

namespace halo::test {

// Each must be rejected by the trials.
std::vector<Conv1dVariant> wrong_variants();

// Each must be accepted: other orders of summation, fma, padded copies.
std::vector<Conv1dVariant> right_variants();

// The plain loop.
Conv1dVariant plain_variant();

}  // namespace halo::test
