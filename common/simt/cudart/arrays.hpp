// CUDA arrays: texels in device memory, in rows without gaps.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct cudaArray {
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};  // as it was asked for: in texels, 0 where an array has no such dimension
  unsigned int flags = 0;
  std::uint64_t address = 0;

  std::size_t texel_bytes() const {
    return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
  }
  std::size_t row_bytes() const { return extent.width * texel_bytes(); }
  std::size_t rows() const { return extent.height != 0 ? extent.height : 1; }
  std::size_t planes() const { return extent.depth != 0 ? extent.depth : 1; }
  std::size_t plane_bytes() const { return row_bytes() * rows(); }
};

struct cudaMipmappedArray {
  std::vector<std::unique_ptr<cudaArray>> levels;
};

namespace simt::cudart {

/// Whether it is a handle that cudaMallocArray or its like gave.
bool is_array(const void* pointer);

/// As cudaDeviceReset does.
void forget_arrays();

}  // namespace simt::cudart
