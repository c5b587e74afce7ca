// The kernels of matrices.cu: one warp that loads, multiplies and stores small matrices, and what that
// must count.
#pragma once

#include <vector>

#include "counted_cases.hpp"

namespace matrices {

struct Case : CountedCase {
  int tensor_instructions = 0;
};
const std::vector<Case>& cases();

}  // namespace matrices
