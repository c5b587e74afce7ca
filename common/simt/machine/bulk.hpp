// Copies in bulk that are on their way (cp.async.bulk): when they come.
#pragma once

#include <cstdint>

#include "common/simt/machine/grid.hpp"

namespace simt::machine {

/// Somebody asks for the barrier at this place of the block's shared memory: what is to arrive there comes now, as late as
/// it may.
void land_loads(Block& block, std::uint32_t barrier);
/// The block has ended: what its threads have stored and not waited for.
void finish_stores(Block& block);

}  // namespace simt::machine
