// make_cudaExtent and its kin, for memory of three dimensions.
#pragma once
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

SIMT_INLINE cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t width,
                                               std::size_t height) {
  return {pointer, pitch, width, height};
}
SIMT_INLINE cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
SIMT_INLINE cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
