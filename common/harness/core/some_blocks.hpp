// Problems near 2^31 cells, where an int index overflows and a float one is exact no more: too large for
// the simulator as a whole, so a few of their blocks are run, on memory of which only the pages that they
// touch are there.
#pragma once

#include <cstdint>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/variant.hpp"

namespace halo {

// The blocks to run of a launch that computes so many outputs: the first, the last, and those round the
// numbers of cells, of blocks and of bytes beyond which narrower types fail. None if a block has so
// many outputs that a few are too much.
std::vector<simt::BlockRange> blocks_to_run(std::uint64_t blocks, std::int64_t outputs);

// Runs the variant so, if the backend and the variant allow it, and adds to check and hazards. Every access
// of these blocks is checked, every output that they write compared, each input page that they write
// found; and they must write about as many outputs as is their share. What they leave out in between, and
// what other blocks would do, is not seen. False if the device failed.
bool try_some_blocks(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                     std::uint64_t seed, Row& row);

}  // namespace halo
