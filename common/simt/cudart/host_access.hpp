// Host code that touches memory of the device: on a GPU machine it crashes, and so it does here, but told.
#pragma once

namespace simt::cudart {

/// Whenever there is new memory or pages are closed: the program may have taken the signal in between.
void watch_host_accesses();

}  // namespace simt::cudart
