// What the predictions of the 1D stages are written with, beside traffic.hpp.
#pragma once

#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic.hpp"

namespace halo {

// The signal, and the outputs that are computed.
inline Cells signal(const Conv1dShape& shape) { return {0, shape.length}; }
inline Cells outputs(const Conv1dShape& shape) { return {shape.first, shape.last}; }

// Calls visit(start of the block's tile) for each block of the grid that covers the signal.
template <class Visit>
void for_each_block(const Conv1dShape& shape, Visit visit) {
  for (std::int64_t start = 0; start < shape.length; start += shape.threads) visit(start);
}

}  // namespace halo
