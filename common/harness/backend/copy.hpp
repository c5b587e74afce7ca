// A copy by a kernel of our own: as fast as bytes can move inside a GPU, and so the roof that the
// memory-bound stages are measured against. (cudaMemcpyAsync from device to device is slower.)
#pragma once

#include <cstdint>

namespace halo {

/// Copies from[0 ... count - 1] to `to`, both in device memory and not overlapping, on the calling
/// thread's default stream. Any count from 0 on and any alignment; 16 bytes at once where both have
/// the same place within 16 bytes. Starts the kernel, does not wait for it, and may be captured
/// into a graph. Returns the launch's CUDA error code.
int launch_copy(const float* from, float* to, std::int64_t count);

}  // namespace halo
