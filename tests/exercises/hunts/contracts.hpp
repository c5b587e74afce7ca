// What the kernels of the bug hunts compute: a few contracts that many hunts share.
#pragma once

#include <string>

#include "common/exercise/judge.hpp"

namespace halo::exercises {

/// conv1d, picture, layer, transpose, softmax, pooling or sum. Throws std::runtime_error, one line, for another
/// name.
const Contract& contract_named(const std::string& name);

}  // namespace halo::exercises
