// What the device has, and the program has set of it.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace simt::cudart {

/// Bytes that malloc may give out in kernels.
std::size_t heap_limit();

/// As cudaDeviceGetAttribute tells it; 0 of one that there is not.
int value_of(cudaDeviceAttr attribute);

}  // namespace simt::cudart
