// What the kernels of the bug hunts compute: a few contracts that many hunts share.
#pragma once

#include <string>

#include "common/exercise/judge.hpp"

namespace halo::exercises {

/// conv1d, conv1d_inner, picture, layer, transpose, softmax, pooling, sum, row_maximum, prefix_sums or product. Throws
/// std::runtime_error, one line, for another name.
const Contract& contract_named(const std::string& name);

/// What any kernel of the contract keeps to that does nothing twice and nothing in a bad order; whether it has a
/// tile is left to it. Throws as contract_named.
const Budget& budget_named(const std::string& name);

}  // namespace halo::exercises
