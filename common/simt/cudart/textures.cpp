#include "common/simt/cudart/textures.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <map>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/arrays.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/streams.hpp"

namespace simt::cudart {
namespace {

using machine::Image;

// Under turn().
struct Objects {
  machine::Images images;
  std::map<std::uint64_t, cudaResourceDesc> resources;
  std::map<std::uint64_t, cudaTextureDesc> textures;
  std::uint64_t last = 0;
};
Objects& objects() {
  static Objects& all = *new Objects;
  return all;
}

void set_channels(Image& image, const cudaChannelFormatDesc& its) {
  image.bits = {its.x, its.y, its.z, its.w};
  image.values = its.f == cudaChannelFormatKindSigned     ? Image::Values::with_sign
                 : its.f == cudaChannelFormatKindUnsigned ? Image::Values::whole
                                                          : Image::Values::floating;
}

Image::Level level_of(const cudaArray& array) {
  return {reach(array.address),
          static_cast<std::uint32_t>(array.extent.width),
          static_cast<std::uint32_t>(array.rows()),
          static_cast<std::uint32_t>(array.planes()),
          array.row_bytes(),
          array.plane_bytes()};
}

// Memory that the program has laid out itself; false if it is not there.
bool set_memory(Image& image, const void* pointer, std::size_t bytes,
                const cudaChannelFormatDesc& channels, const Image::Level& shape) {
  set_channels(image, channels);
  const Block* const block = block_at(pointer);
  if (block == nullptr || image.texel_bytes() == 0 ||
      bytes > block->begin + block->bytes - reinterpret_cast<std::uint64_t>(pointer)) {
    explain("texture memory",
            "cudaCreateTextureObject: %zu bytes from %p on are not all device memory of one "
            "allocation",
            bytes, pointer);
    return false;
  }
  if (reinterpret_cast<std::uint64_t>(pointer) % kPitchAlignment != 0 ||
      shape.row_bytes % kTexturePitchAlignment != 0) {
    explain("texture alignment",
            "cudaCreateTextureObject: memory begins at a multiple of %d bytes (cudaMalloc's does), "
            "and rows are multiples of %d bytes apart (cudaMallocPitch)",
            kPitchAlignment, kTexturePitchAlignment);
    return false;
  }
  image.levels = {shape};
  image.levels[0].texels = reach(pointer);
  return true;
}

cudaError_t set_resource(Image& image, const cudaResourceDesc& from) {
  switch (from.resType) {
    case cudaResourceTypeArray:
      if (from.res.array.array == nullptr) return cudaErrorInvalidResourceHandle;
      set_channels(image, from.res.array.array->channels);
      image.levels = {level_of(*from.res.array.array)};
      image.is_array = true;
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      if (from.res.mipmap.mipmap == nullptr) return cudaErrorInvalidResourceHandle;
      set_channels(image, from.res.mipmap.mipmap->levels.front()->channels);
      image.is_array = true;
      for (const auto& level : from.res.mipmap.mipmap->levels) {
        image.levels.push_back(level_of(*level));
      }
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& its = from.res.linear;
      image.is_linear_memory = true;
      if (!set_memory(image, its.devPtr, its.sizeInBytes, its.desc, {})) {
        return cudaErrorInvalidValue;
      }
      image.levels[0].width = static_cast<std::uint32_t>(its.sizeInBytes / image.texel_bytes());
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& its = from.res.pitch2D;
      const Image::Level shape{nullptr,
                               static_cast<std::uint32_t>(its.width),
                               static_cast<std::uint32_t>(its.height),
                               1,
                               its.pitchInBytes,
                               0};
      if (its.height == 0) return cudaErrorInvalidValue;
      set_channels(image, its.desc);
      const std::size_t bytes =
          its.pitchInBytes * (its.height - 1) + its.width * image.texel_bytes();
      return set_memory(image, its.devPtr, bytes, its.desc, shape) ? cudaSuccess
                                                                   : cudaErrorInvalidValue;
    }
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t set_reading(Image& image, const cudaTextureDesc& how) {
  for (std::size_t i = 0; i < 3; ++i) {
    switch (how.addressMode[i]) {
      case cudaAddressModeWrap:
        image.outside[i] = Image::Outside::wrap;
        break;
      case cudaAddressModeMirror:
        image.outside[i] = Image::Outside::mirror;
        break;
      case cudaAddressModeBorder:
        image.outside[i] = Image::Outside::border;
        break;
      default:
        image.outside[i] = Image::Outside::clamp;
        break;
    }
  }
  const bool is_whole = image.values != Image::Values::floating;
  image.scales = how.readMode == cudaReadModeNormalizedFloat && is_whole;
  if (image.scales && image.bits[0] > 16) return cudaErrorInvalidNormSetting;
  image.filters = how.filterMode == cudaFilterModeLinear;
  // CUDA: whole numbers are filtered only when they become fractions.
  if (image.filters && is_whole && !image.scales) return cudaErrorInvalidFilterSetting;
  image.filters_levels = how.mipmapFilterMode == cudaFilterModeLinear;
  image.is_normalised = how.normalizedCoords != 0;
  image.is_srgb = how.sRGB != 0;
  std::copy_n(how.borderColor, 4, image.border.begin());
  image.level_bias = how.mipmapLevelBias;
  image.least_level = how.minMipmapLevelClamp;
  image.greatest_level = how.maxMipmapLevelClamp;
  return cudaSuccess;
}

std::uint64_t add(Image image, const cudaResourceDesc& resource) {
  Objects& all = objects();
  ++all.last;
  all.images[all.last] = std::move(image);
  all.resources[all.last] = resource;
  return all.last;
}

bool remove(std::uint64_t object) {
  Objects& all = objects();
  all.resources.erase(object);
  all.textures.erase(object);
  return all.images.erase(object) != 0;
}

cudaError_t destroy(const char* name, std::uint64_t object) {
  return outside_capture(
      name, [&] { return object == 0 || remove(object) ? cudaSuccess : cudaErrorInvalidValue; });
}

template <class Kept, class Result>
cudaError_t tell(const char* name, const std::map<std::uint64_t, Kept>& all, std::uint64_t object,
                 Result* result) {
  return call(name, [&] {
    const auto found = all.find(object);
    if (result == nullptr || found == all.end()) return cudaErrorInvalidValue;
    *result = found->second;
    return cudaSuccess;
  });
}

}  // namespace

const machine::Images& images() { return objects().images; }

void free_images(const std::byte* memory, std::size_t bytes) {
  for (auto& [object, image] : objects().images) {
    const std::byte* const its = image.levels.front().texels;
    image.is_freed |= std::greater_equal<>()(its, memory) && std::less<>()(its, memory + bytes);
  }
}
void forget_textures() {
  Objects& all = objects();
  all.images.clear();
  all.resources.clear();
  all.textures.clear();
}

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return outside_capture("cudaCreateTextureObject", [&]() -> cudaError_t {
    if (object == nullptr || resource == nullptr || texture == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (view != nullptr && view->format != cudaResViewFormatNone) {
      explain("resource view", "cudaCreateTextureObject: resource views are not in the simulator");
      return cudaErrorNotSupported;
    }
    if (is_recording()) return refuse_to_note("it makes a texture object");
    Image image;
    cudaError_t error = set_resource(image, *resource);
    if (error == cudaSuccess) error = set_reading(image, *texture);
    if (error != cudaSuccess) return error;
    *object = add(std::move(image), *resource);
    objects().textures[*object] = *texture;
    return cudaSuccess;
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return destroy("cudaDestroyTextureObject", object);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return tell("cudaGetTextureObjectResourceDesc", objects().resources, object, resource);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return tell("cudaGetTextureObjectTextureDesc", objects().textures, object, texture);
}

// No texture has one: all of it is zero, as a GPU says.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t object) {
  return call("cudaGetTextureObjectResourceViewDesc", [&] {
    if (view == nullptr || !objects().textures.contains(object)) return cudaErrorInvalidValue;
    *view = {};
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return call("cudaCreateSurfaceObject", [&]() -> cudaError_t {
    if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
      return cudaErrorInvalidValue;
    }
    if (is_recording()) return refuse_to_note("it makes a surface object");
    Image image;
    const cudaError_t error = set_resource(image, *resource);
    if (error == cudaSuccess) *object = add(std::move(image), *resource);
    return error;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return destroy("cudaDestroySurfaceObject", object);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return tell("cudaGetSurfaceObjectResourceDesc", objects().resources, object, resource);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* most,
                                                 const cudaChannelFormatDesc* channels,
                                                 int device) {
  return query("cudaDeviceGetTexture1DLinearMaxWidth", [&] {
    if (most == nullptr || channels == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *most = std::size_t{1} << 28;
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
