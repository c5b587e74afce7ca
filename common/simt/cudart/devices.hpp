// What the program has set of the device.
#pragma once

#include <cstddef>

namespace simt::cudart {

/// Bytes that malloc may give out in kernels.
std::size_t heap_limit();

}  // namespace simt::cudart
