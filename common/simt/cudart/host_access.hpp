// Host code that touches memory of the device: on a GPU machine it crashes, and so it does here, but told.
#pragma once

namespace simt::cudart {

/// From the first allocation on.
void watch_host_accesses();

}  // namespace simt::cudart
