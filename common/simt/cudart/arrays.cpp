#include "common/simt/cudart/arrays.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/streams.hpp"

namespace simt::cudart {
namespace {

// Those that the program made; under turn().
std::set<const cudaArray*>& arrays() {
  static std::set<const cudaArray*>& all = *new std::set<const cudaArray*>;
  return all;
}

bool is_format(const cudaChannelFormatDesc& its) {
  const int channels[] = {its.x, its.y, its.z, its.w};
  int given = 0;
  while (given < 4 && channels[given] != 0) ++given;
  const auto is_right = [&](int bits) { return bits == 0 || bits == its.x; };
  return (given == 1 || given == 2 || given == 4) && (its.x == 8 || its.x == 16 || its.x == 32) &&
         std::all_of(channels, channels + given, is_right) &&
         std::all_of(channels + given, channels + 4, [](int bits) { return bits == 0; }) &&
         its.f >= cudaChannelFormatKindSigned && its.f <= cudaChannelFormatKindFloat;
}

cudaError_t make(const char* name, cudaArray& made, const cudaChannelFormatDesc& channels,
                 cudaExtent extent, unsigned int flags) {
  if (!is_format(channels)) {
    explain("array format",
            "%s: a texel of %d, %d, %d and %d bits and kind %d is not in the simulator", name,
            channels.x, channels.y, channels.z, channels.w, static_cast<int>(channels.f));
    return cudaErrorInvalidChannelDescriptor;
  }
  const bool is_cubemap = (flags & cudaArrayCubemap) != 0,
             is_layered = (flags & cudaArrayLayered) != 0;
  if (extent.width == 0 ||
      (is_cubemap && (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0 ||
                      (!is_layered && extent.depth != 6)))) {
    return cudaErrorInvalidValue;
  }
  // The limits of an image's extents have numbers that follow each other; a cubemap's height has none of its own.
  const auto first_beyond = [&](int limit) -> std::pair<std::size_t, int> {
    for (const std::size_t one : {extent.width, is_cubemap ? 0 : extent.height,
                                  is_cubemap && !is_layered ? 0 : extent.depth}) {
      if (one == 0) continue;
      const int most = value_of(static_cast<cudaDeviceAttr>(limit++));
      if (one > static_cast<std::size_t>(most)) return {one, most};
    }
    return {};
  };
  const bool is_volume = !is_cubemap && !is_layered && extent.depth != 0;
  const auto [beyond, most] =
      first_beyond(is_cubemap           ? (is_layered ? cudaDevAttrMaxTextureCubemapLayeredWidth
                                                      : cudaDevAttrMaxTextureCubemapWidth)
                   : is_layered         ? (extent.height != 0 ? cudaDevAttrMaxTexture2DLayeredWidth
                                                              : cudaDevAttrMaxTexture1DLayeredWidth)
                   : is_volume          ? cudaDevAttrMaxTexture3DWidth
                   : extent.height != 0 ? cudaDevAttrMaxTexture2DWidth
                                        : cudaDevAttrMaxTexture1DWidth);
  // Textures, but no surfaces, may be deeper where they are less wide.
  const bool is_deep = is_volume && (flags & cudaArraySurfaceLoadStore) == 0 &&
                       first_beyond(cudaDevAttrMaxTexture3DWidthAlt).first == 0;
  if (beyond != 0 && !is_deep) {
    explain("array extent", "%s: an extent of %zu, the most is %d", name, beyond, most);
    return cudaErrorInvalidValue;
  }
  made.channels = channels;
  made.extent = extent;
  made.flags = flags;
  std::size_t rows = 0, bytes = 0;
  if (__builtin_mul_overflow(made.row_bytes(), made.rows(), &rows) ||
      __builtin_mul_overflow(rows, made.planes(), &bytes)) {
    return cudaErrorMemoryAllocation;
  }
  made.address = allocate(bytes, MemoryKind::device);
  return cudaSuccess;
}

cudaError_t make_new(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* channels,
                     cudaExtent extent, unsigned int flags) {
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  auto made = std::make_unique<cudaArray>();
  if (const cudaError_t error = make(name, *made, *channels, extent, flags); error != cudaSuccess) {
    return error;
  }
  arrays().insert(made.get());
  *array = made.release();
  return cudaSuccess;
}

}  // namespace

bool is_array(const void* pointer) {
  return arrays().contains(static_cast<const cudaArray*>(pointer));
}

void forget_arrays() {
  // Their memory has gone already.
  for (const cudaArray* const one : arrays()) delete one;
  arrays().clear();
}

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                            std::size_t width, std::size_t height, unsigned int flags) {
  return outside_capture("cudaMallocArray", [&] {
    return make_new("cudaMallocArray", array, channels, {width, height, 0}, flags);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned int flags) {
  return outside_capture("cudaMalloc3DArray", [&] {
    return make_new("cudaMalloc3DArray", array, channels, extent, flags);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return outside_capture("cudaFreeArray", [&] {
    if (array == nullptr) return cudaSuccess;
    if (arrays().erase(array) == 0) {
      explain("free of no array", "cudaFreeArray: %p is no array, or was freed before",
              static_cast<void*>(array));
      return cudaErrorInvalidValue;
    }
    release(array->address);
    delete array;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* channels, cudaExtent extent,
                                     unsigned int count, unsigned int flags) {
  return outside_capture("cudaMallocMipmappedArray", [&]() -> cudaError_t {
    if (array == nullptr || channels == nullptr || count == 0) return cudaErrorInvalidValue;
    auto made = std::make_unique<cudaMipmappedArray>();
    const auto halved = [](std::size_t of) { return of > 1 ? of / 2 : of; };
    for (unsigned int i = 0; i < count; ++i) {
      cudaArray& level = *made->levels.emplace_back(std::make_unique<cudaArray>());
      const cudaError_t error = make("cudaMallocMipmappedArray", level, *channels, extent, flags);
      if (error != cudaSuccess) return error;
      extent.width = halved(extent.width);
      extent.height = halved(extent.height);
      if ((flags & (cudaArrayLayered | cudaArrayCubemap)) == 0) extent.depth = halved(extent.depth);
    }
    *array = made.release();
    return cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned int which) {
  return call("cudaGetMipmappedArrayLevel", [&] {
    if (level == nullptr || array == nullptr || which >= array->levels.size()) {
      return cudaErrorInvalidValue;
    }
    *level = array->levels[which].get();
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return outside_capture("cudaFreeMipmappedArray", [&] {
    if (array == nullptr) return cudaSuccess;
    for (const auto& level : array->levels) release(level->address);
    delete array;
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent,
                             unsigned int* flags, cudaArray_t array) {
  return call("cudaArrayGetInfo", [&] {
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (channels != nullptr) *channels = array->channels;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  return call("cudaGetChannelDesc", [&] {
    if (channels == nullptr || array == nullptr) return cudaErrorInvalidValue;
    *channels = array->channels;
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
