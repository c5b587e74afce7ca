// Layers that are computed wrongly, each in one way that is easy to write, and some that are right in
// an unusual way. They play the variants of a 2D stage.
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::test {

// Each must be rejected by the trials.
std::vector<Conv2dVariant> wrong_layers();

// Each must be accepted: other orders of summation, fma, a workspace, filters kept elsewhere.
std::vector<Conv2dVariant> right_layers();

// The plain loop.
Conv2dVariant plain_layer();

}  // namespace halo::test
