// Memory, copies and memsets, arrays, texture objects, what is known of pointers.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/arrays.hpp"
#include "common/simt/cudart/graphs.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

using cudart::Issue;

cudaArray* array_in(CUarray array) { return reinterpret_cast<cudaArray*>(array); }

// Owned by the current context, if it was made; in its turn of a stream.
template <class Allocate>
CUresult allocate_owned(const char* name, CUdeviceptr* address, Allocate allocate,
                        CUstream stream = nullptr) {
  return in_stream(name, stream, [&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    void* pointer = nullptr;
    if (const cudaError_t error = allocate(&pointer); error != cudaSuccess) return result_of(error);
    // Unlike cudaMalloc.
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = address_in(pointer);
    own_memory(*address);
    return CUDA_SUCCESS;
  });
}

// ---- Copies and memsets: all are work of a stream ----

// The same members, with contexts where the other has reserved ones.
CUDA_MEMCPY3D within_device(const CUDA_MEMCPY3D_PEER& copy) {
  static_assert(sizeof(CUDA_MEMCPY3D) == sizeof copy);
  CUDA_MEMCPY3D its;
  std::memcpy(&its, &copy, sizeof its);
  its.reserved0 = its.reserved1 = nullptr;
  return its;
}

CUresult on_stream(const Issue& issue, cudaGraphNodeType type, const cudart::Work& work) {
  return in_stream(issue.name, issue.stream, [&] {
    return cudart::on_stream(issue.name, issue.stream,
                             [&] { return cudart::enqueue(issue.stream, type, work); });
  });
}

CUresult copy_bytes(const Issue& issue, const void* to, const void* from, std::size_t bytes,
                    cudaMemcpyKind kind) {
  return on_stream(issue, cudaGraphNodeTypeMemcpy, [=] {
    return cudart::copy(issue, {to, bytes, bytes}, {from, bytes, bytes}, {.width = bytes}, kind);
  });
}

// `width` elements of so many bytes in each row.
CUresult set_elements(const Issue& issue, CUdeviceptr address, std::size_t pitch,
                      unsigned int value, unsigned int bytes, std::size_t width,
                      std::size_t height) {
  if (address % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  const cudaMemsetParams parameters{.dst = pointer_to(address),
                                    .pitch = pitch,
                                    .value = value,
                                    .elementSize = bytes,
                                    .width = width,
                                    .height = height};
  return on_stream(issue, cudaGraphNodeTypeMemset, cudart::set_of(parameters, issue));
}

// One side of a copy of rows and planes.
struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height;
  std::size_t x, y, z;
};

cudart::Side side_in(const End& end, std::size_t width, std::size_t rows) {
  if (end.type == CU_MEMORYTYPE_ARRAY) {
    const cudaArray& its = *array_in(end.array);
    return {pointer_to(its.address + end.z * its.plane_bytes() + end.y * its.row_bytes() + end.x),
            its.row_bytes(), its.plane_bytes()};
  }
  const std::size_t pitch = end.pitch != 0 ? end.pitch : width;
  const std::size_t height = end.height != 0 ? end.height : rows;
  const CUdeviceptr from = end.type == CU_MEMORYTYPE_HOST ? address_in(end.host) : end.device;
  return {pointer_to(from + (end.z * height + end.y) * pitch + end.x), pitch, height * pitch};
}

CUresult copy_planes(const Issue& issue, const End& to, const End& from,
                     const cudart::Extent& extent) {
  const auto is_right = [](const End& end) {
    return end.type == CU_MEMORYTYPE_HOST || end.type == CU_MEMORYTYPE_DEVICE ||
           end.type == CU_MEMORYTYPE_UNIFIED ||
           (end.type == CU_MEMORYTYPE_ARRAY && end.array != nullptr);
  };
  if (!is_right(to) || !is_right(from)) return CUDA_ERROR_INVALID_VALUE;
  const auto is_host = [](const End& end) { return end.type == CU_MEMORYTYPE_HOST; };
  const bool is_unified = to.type == CU_MEMORYTYPE_UNIFIED || from.type == CU_MEMORYTYPE_UNIFIED;
  const cudaMemcpyKind kind = is_unified ? cudaMemcpyDefault
                              : is_host(to)
                                  ? is_host(from) ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost
                              : is_host(from) ? cudaMemcpyHostToDevice
                                              : cudaMemcpyDeviceToDevice;
  const cudart::Side to_side = side_in(to, extent.width, extent.rows);
  const cudart::Side from_side = side_in(from, extent.width, extent.rows);
  return on_stream(issue, cudaGraphNodeTypeMemcpy,
                   [=] { return cudart::copy(issue, to_side, from_side, extent, kind); });
}

CUresult copy_rows(const Issue& issue, const CUDA_MEMCPY2D* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_MEMCPY2D& p = *copy;
  return copy_planes(issue,
                     {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, 0,
                      p.dstXInBytes, p.dstY, 0},
                     {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcPitch, 0,
                      p.srcXInBytes, p.srcY, 0},
                     {p.WidthInBytes, p.Height, 1});
}

CUresult copy_planes(const Issue& issue, const CUDA_MEMCPY3D* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_MEMCPY3D& p = *copy;
  return copy_planes(issue,
                     {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, p.dstHeight,
                      p.dstXInBytes, p.dstY, p.dstZ},
                     {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcPitch, p.srcHeight,
                      p.srcXInBytes, p.srcY, p.srcZ},
                     {p.WidthInBytes, p.Height, p.Depth});
}

// From a byte of a one-dimensional array on.
CUresult copy_of_array(const Issue& issue, const void* to, CUarray to_array, std::size_t to_at,
                       const void* from, CUarray from_array, std::size_t from_at, std::size_t bytes,
                       cudaMemcpyKind kind) {
  const auto place = [](const void* pointer, CUarray array, std::size_t at) -> const void* {
    return array != nullptr ? pointer_to(array_in(array)->address + at) : pointer;
  };
  return copy_bytes(issue, place(to, to_array, to_at), place(from, from_array, from_at), bytes,
                    kind);
}

// ---- Arrays ----

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned int count) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindNone;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
      bits = 4 << format;
      kind = cudaChannelFormatKindUnsigned;
      break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
      bits = 8 << (format - CU_AD_FORMAT_SIGNED_INT8);
      kind = cudaChannelFormatKindSigned;
      break;
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
      bits = format == CU_AD_FORMAT_HALF ? 16 : 32;
      kind = cudaChannelFormatKindFloat;
      break;
    default:
      break;
  }
  const auto of = [&](unsigned int channel) { return channel < count ? bits : 0; };
  return {of(0), of(1), of(2), of(3), kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& its) {
  const int step = its.x / 16;  // 8, 16, 32 bits: 0, 1, 2
  return its.f == cudaChannelFormatKindFloat ? its.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT
         : its.f == cudaChannelFormatKindSigned
             ? static_cast<CUarray_format>(CU_AD_FORMAT_SIGNED_INT8 + step)
             : static_cast<CUarray_format>(CU_AD_FORMAT_UNSIGNED_INT8 + step);
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const cudaArray& its = *array_in(array);
  const cudaChannelFormatDesc& channels = its.channels;
  *description = {its.extent.width,
                  its.extent.height,
                  its.extent.depth,
                  format_of(channels),
                  static_cast<unsigned>((channels.x != 0) + (channels.y != 0) + (channels.z != 0) +
                                        (channels.w != 0)),
                  its.flags};
  return CUDA_SUCCESS;
}

CUresult make_array(const char* name, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& its) {
  return in_context(name, [&] {
    const cudaChannelFormatDesc channels = channels_of(its.Format, its.NumChannels);
    return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &channels,
                             {its.Width, its.Height, its.Depth}, its.Flags);
  });
}

// False if it is nothing that is known here.
bool take_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc& to) {
  to = {};
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.resType = cudaResourceTypeArray;
      to.res.array.array = array_in(from.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to.resType = cudaResourceTypeMipmappedArray;
      to.res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR:
      to.resType = cudaResourceTypeLinear;
      to.res.linear = {pointer_to(from.res.linear.devPtr),
                       channels_of(from.res.linear.format, from.res.linear.numChannels),
                       from.res.linear.sizeInBytes};
      return true;
    case CU_RESOURCE_TYPE_PITCH2D:
      to.resType = cudaResourceTypePitch2D;
      to.res.pitch2D = {pointer_to(from.res.pitch2D.devPtr),
                        channels_of(from.res.pitch2D.format, from.res.pitch2D.numChannels),
                        from.res.pitch2D.width, from.res.pitch2D.height,
                        from.res.pitch2D.pitchInBytes};
      return true;
    default:
      return false;
  }
}

// Whole numbers become fractions unless they are read as they are, which wide ones always are.
bool reads_fractions(const cudaResourceDesc& resource, unsigned int flags) {
  const cudaChannelFormatDesc channels =
      resource.resType == cudaResourceTypeArray ? resource.res.array.array->channels
      : resource.resType == cudaResourceTypeMipmappedArray
          ? resource.res.mipmap.mipmap->levels.front()->channels
      : resource.resType == cudaResourceTypeLinear ? resource.res.linear.desc
                                                   : resource.res.pitch2D.desc;
  return (flags & CU_TRSF_READ_AS_INTEGER) == 0 && channels.f != cudaChannelFormatKindFloat &&
         channels.x <= 16;
}

}  // namespace

extern "C" {

// ---- Memory ----

CUresult cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  std::size_t ignored = 0;
  return in_context("cuMemGetInfo", [&] {
    return cudaMemGetInfo(free_bytes != nullptr ? free_bytes : &ignored,
                          total_bytes != nullptr ? total_bytes : &ignored);
  });
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate_owned("cuMemAlloc", address,
                        [&](void** pointer) { return cudaMalloc(pointer, bytes); });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned int) {
  return allocate_owned("cuMemAllocPitch", address, [&](void** pointer) {
    return cudaMallocPitch(pointer, pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned int flags) {
  return allocate_owned("cuMemAllocManaged", address,
                        [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate_owned(
      "cuMemAllocAsync", address,
      [&](void** pointer) { return cudaMallocAsync(pointer, bytes, stream); }, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_owned(
      "cuMemAllocFromPoolAsync", address,
      [&](void** pointer) { return cudaMallocFromPoolAsync(pointer, bytes, pool, stream); },
      stream);
}

// An address says whose it is: no context need be current.
CUresult cuMemFree(CUdeviceptr address) {
  return answer("cuMemFree", [&] {
    disown_memory(address);
    return cudaFree(pointer_to(address));
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return answer("cuMemFreeAsync", [&] {
    disown_memory(address);
    return cudaFreeAsync(pointer_to(address), stream);
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return in_context("cuMemGetAddressRange", [&] {
    const cudart::Block* const block = cudart::block_at(address);
    if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (begin != nullptr) *begin = block->begin;
    if (bytes != nullptr) *bytes = block->bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return in_context("cuMemHostAlloc", [&] { return cudaHostAlloc(pointer, bytes, flags); });
}

CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return in_context("cuMemAllocHost", [&] { return cudaMallocHost(pointer, bytes); });
}

CUresult cuMemFreeHost(void* pointer) {
  return answer("cuMemFreeHost", [&] { return cudaFreeHost(pointer); });
}

CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return in_context("cuMemHostRegister", [&] { return cudaHostRegister(pointer, bytes, flags); });
}

CUresult cuMemHostUnregister(void* pointer) {
  return answer("cuMemHostUnregister", [&] { return cudaHostUnregister(pointer); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned int flags) {
  return in_context("cuMemHostGetDevicePointer", [&] {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(address), pointer, flags);
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return in_context("cuMemHostGetFlags", [&] { return cudaHostGetFlags(flags, pointer); });
}

CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                     CUmemLocation location) {
  return in_context("cuMemAdvise", [&] {
    return cudaMemAdvise(pointer_to(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                         {static_cast<cudaMemLocationType>(location.type), location.id});
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUmemLocation location,
                            unsigned int flags, CUstream stream) {
  return in_context("cuMemPrefetchAsync", [&] {
    return cudaMemPrefetchAsync(pointer_to(address), bytes,
                                {static_cast<cudaMemLocationType>(location.type), location.id},
                                flags, stream);
  });
}

CUresult cuMemRangeGetAttribute(void* data, std::size_t data_bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, std::size_t bytes) {
  return in_context("cuMemRangeGetAttribute", [&] {
    return cudaMemRangeGetAttribute(data, data_bytes, static_cast<cudaMemRangeAttribute>(attribute),
                                    pointer_to(address), bytes);
  });
}

CUresult cuMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                 CUmem_range_attribute* attributes, std::size_t number,
                                 CUdeviceptr address, std::size_t bytes) {
  return in_context("cuMemRangeGetAttributes", [&] {
    return cudaMemRangeGetAttributes(data, data_bytes,
                                     reinterpret_cast<cudaMemRangeAttribute*>(attributes), number,
                                     pointer_to(address), bytes);
  });
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                            std::size_t count, CUmemcpyAttributes* attributes, std::size_t* first,
                            std::size_t number, CUstream stream) {
  return in_stream("cuMemcpyBatchAsync", stream, [&] {
    return cudaMemcpyBatchAsync(reinterpret_cast<void**>(to), reinterpret_cast<void**>(from), sizes,
                                count, reinterpret_cast<cudaMemcpyAttributes*>(attributes), first,
                                number, stream);
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                 CUmemLocation* locations, std::size_t* first, std::size_t number,
                                 unsigned long long flags, CUstream stream) {
  return in_stream("cuMemPrefetchBatchAsync", stream, [&] {
    return cudaMemPrefetchBatchAsync(reinterpret_cast<void**>(addresses), sizes, count,
                                     reinterpret_cast<cudaMemLocation*>(locations), first, number,
                                     flags, stream);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                unsigned long long flags, CUstream stream) {
  return in_stream("cuMemDiscardBatchAsync", stream, [&] {
    return cudaMemDiscardBatchAsync(reinterpret_cast<void**>(addresses), sizes, count, flags,
                                    stream);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* sizes,
                                           std::size_t count, CUmemLocation* locations,
                                           std::size_t* first, std::size_t number,
                                           unsigned long long flags, CUstream stream) {
  return in_stream("cuMemDiscardAndPrefetchBatchAsync", stream, [&] {
    return cudaMemDiscardAndPrefetchBatchAsync(reinterpret_cast<void**>(addresses), sizes, count,
                                               reinterpret_cast<cudaMemLocation*>(locations), first,
                                               number, flags, stream);
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return answer("cuPointerGetAttribute", [&]() -> CUresult {
    const cudart::Block* const block = cudart::block_at(address);
    if (data == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaPointerAttributes its;
    cudaPointerGetAttributes(&its, pointer_to(address));
    const auto give = [&](auto value) {
      std::memcpy(data, &value, sizeof value);
      return CUDA_SUCCESS;
    };
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        return give(context_of(block->begin));
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give(block->is_of_device() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give(its.devicePointer);
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return its.hostPointer != nullptr ? give(its.hostPointer) : CUDA_ERROR_INVALID_VALUE;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return give(its.type == cudaMemoryTypeManaged);
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give(0);
      case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return give(static_cast<unsigned long long>(block->serial));
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return give(block->begin);
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return give(block->bytes);
      case CU_POINTER_ATTRIBUTE_MAPPED:
        return give(true);
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

// What cannot be told is left as 0.
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; ++i) cuPointerGetAttribute(data[i], attributes[i], address);
  return CUDA_SUCCESS;
}

// ---- Pools ----

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return answer("cuDeviceGetDefaultMemPool",
                [&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return answer("cuMemGetDefaultMemPool", [&] {
    return cudaMemGetDefaultMemPool(pool, reinterpret_cast<cudaMemLocation*>(location),
                                    static_cast<cudaMemAllocationType>(type));
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return answer("cuMemGetMemPool", [&] {
    return cudaMemGetMemPool(pool, reinterpret_cast<cudaMemLocation*>(location),
                             static_cast<cudaMemAllocationType>(type));
  });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return answer("cuMemSetMemPool", [&] {
    return cudaMemSetMemPool(reinterpret_cast<cudaMemLocation*>(location),
                             static_cast<cudaMemAllocationType>(type), pool);
  });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return answer("cuDeviceGetMemPool", [&] { return cudaDeviceGetMemPool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return answer("cuDeviceSetMemPool", [&] { return cudaDeviceSetMemPool(device, pool); });
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return answer("cuMemPoolCreate", [&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return answer("cuMemPoolDestroy", [&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return answer("cuMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool, bytes); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return answer("cuMemPoolSetAttribute", [&] {
    return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return answer("cuMemPoolGetAttribute", [&] {
    return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* all, std::size_t count) {
  static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
  return answer("cuMemPoolSetAccess", [&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(all), count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return answer("cuMemPoolGetAccess", [&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(location));
  });
}

// ---- Copies ----

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes("cuMemcpy", pointer_to(to), pointer_to(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_bytes({"cuMemcpyAsync", stream}, pointer_to(to), pointer_to(from), bytes,
                    cudaMemcpyDefault);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return copy_bytes("cuMemcpyPeer", pointer_to(to), pointer_to(from), bytes,
                    cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return copy_bytes({"cuMemcpyPeerAsync", stream}, pointer_to(to), pointer_to(from), bytes,
                    cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_bytes("cuMemcpyHtoD", pointer_to(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_bytes({"cuMemcpyHtoDAsync", stream}, pointer_to(to), from, bytes,
                    cudaMemcpyHostToDevice);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes("cuMemcpyDtoH", to, pointer_to(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_bytes({"cuMemcpyDtoHAsync", stream}, to, pointer_to(from), bytes,
                    cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes("cuMemcpyDtoD", pointer_to(to), pointer_to(from), bytes,
                    cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_bytes({"cuMemcpyDtoDAsync", stream}, pointer_to(to), pointer_to(from), bytes,
                    cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t at, const void* from, std::size_t bytes) {
  return copy_of_array("cuMemcpyHtoA", nullptr, to, at, from, nullptr, 0, bytes,
                       cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t at, const void* from, std::size_t bytes,
                           CUstream stream) {
  return copy_of_array({"cuMemcpyHtoAAsync", stream}, nullptr, to, at, from, nullptr, 0, bytes,
                       cudaMemcpyHostToDevice);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t at, std::size_t bytes) {
  return copy_of_array("cuMemcpyAtoH", to, nullptr, 0, nullptr, from, at, bytes,
                       cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t at, std::size_t bytes,
                           CUstream stream) {
  return copy_of_array({"cuMemcpyAtoHAsync", stream}, to, nullptr, 0, nullptr, from, at, bytes,
                       cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoA(CUarray to, std::size_t at, CUdeviceptr from, std::size_t bytes) {
  return copy_of_array("cuMemcpyDtoA", nullptr, to, at, pointer_to(from), nullptr, 0, bytes,
                       cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t at, std::size_t bytes) {
  return copy_of_array("cuMemcpyAtoD", pointer_to(to), nullptr, 0, nullptr, from, at, bytes,
                       cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_at, CUarray from, std::size_t from_at,
                      std::size_t bytes) {
  return copy_of_array("cuMemcpyAtoA", nullptr, to, to_at, nullptr, from, from_at, bytes,
                       cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return copy_rows("cuMemcpy2D", copy); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  return copy_rows("cuMemcpy2DUnaligned", copy);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_rows({"cuMemcpy2DAsync", stream}, copy);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return copy_planes("cuMemcpy3D", copy); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_planes({"cuMemcpy3DAsync", stream}, copy);
}

// All contexts are of one device.
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  const CUDA_MEMCPY3D its = copy != nullptr ? within_device(*copy) : CUDA_MEMCPY3D{};
  return cuMemcpy3D(copy != nullptr ? &its : nullptr);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  const CUDA_MEMCPY3D its = copy != nullptr ? within_device(*copy) : CUDA_MEMCPY3D{};
  return cuMemcpy3DAsync(copy != nullptr ? &its : nullptr, stream);
}

// ---- Memsets ----

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return set_elements("cuMemsetD8", to, 0, value, 1, count, 1);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return set_elements("cuMemsetD16", to, 0, value, 2, count, 1);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, std::size_t count) {
  return set_elements("cuMemsetD32", to, 0, value, 4, count, 1);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set_elements({"cuMemsetD8Async", stream}, to, 0, value, 1, count, 1);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return set_elements({"cuMemsetD16Async", stream}, to, 0, value, 2, count, 1);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return set_elements({"cuMemsetD32Async", stream}, to, 0, value, 4, count, 1);
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return set_elements("cuMemsetD2D8", to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return set_elements("cuMemsetD2D16", to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                       std::size_t height) {
  return set_elements("cuMemsetD2D32", to, pitch, value, 4, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set_elements({"cuMemsetD2D8Async", stream}, to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set_elements({"cuMemsetD2D16Async", stream}, to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned int value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set_elements({"cuMemsetD2D32Async", stream}, to, pitch, value, 4, width, height);
}

// ---- Arrays ----

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return make_array("cuArrayCreate", array,
                    {description->Width, description->Height, 0, description->Format,
                     description->NumChannels, 0});
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return make_array("cuArray3DCreate", array, *description);
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  return in_context("cuArrayGetDescriptor", [&] {
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR its;
    const CUresult result = describe(&its, array);
    if (result == CUDA_SUCCESS) *description = {its.Width, its.Height, its.Format, its.NumChannels};
    return result;
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return in_context("cuArray3DGetDescriptor", [&] { return describe(description, array); });
}

CUresult cuArrayDestroy(CUarray array) {
  return in_context("cuArrayDestroy", [&] { return cudaFreeArray(array_in(array)); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned int levels) {
  return in_context("cuMipmappedArrayCreate", [&]() -> cudaError_t {
    if (description == nullptr) return cudaErrorInvalidValue;
    const cudaChannelFormatDesc channels =
        channels_of(description->Format, description->NumChannels);
    return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(array), &channels,
                                    {description->Width, description->Height, description->Depth},
                                    levels, description->Flags);
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array, unsigned int which) {
  return in_context("cuMipmappedArrayGetLevel", [&] {
    return cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level),
                                      reinterpret_cast<cudaMipmappedArray_const_t>(array), which);
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return in_context("cuMipmappedArrayDestroy", [&] {
    return cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(array));
  });
}

// ---- Texture and surface objects ----

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_context("cuTexObjectCreate", [&]() -> cudaError_t {
    cudaResourceDesc its;
    if (object == nullptr || resource == nullptr || how == nullptr ||
        !take_resource(*resource, its)) {
      return cudaErrorInvalidValue;
    }
    if (view != nullptr && view->format != CU_RES_VIEW_FORMAT_NONE) return cudaErrorNotSupported;
    cudaTextureDesc reading{};
    for (int i = 0; i < 3; ++i) {
      reading.addressMode[i] = static_cast<cudaTextureAddressMode>(how->addressMode[i]);
    }
    reading.filterMode = static_cast<cudaTextureFilterMode>(how->filterMode);
    reading.readMode =
        reads_fractions(its, how->flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    reading.sRGB = (how->flags & CU_TRSF_SRGB) != 0;
    reading.normalizedCoords = (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    std::copy_n(how->borderColor, 4, reading.borderColor);
    reading.maxAnisotropy = how->maxAnisotropy;
    reading.mipmapFilterMode = static_cast<cudaTextureFilterMode>(how->mipmapFilterMode);
    reading.mipmapLevelBias = how->mipmapLevelBias;
    reading.minMipmapLevelClamp = how->minMipmapLevelClamp;
    reading.maxMipmapLevelClamp = how->maxMipmapLevelClamp;
    return cudaCreateTextureObject(object, &its, &reading, nullptr);
  });
}

CUresult cuTexObjectDestroy(CUtexObject object) {
  return in_context("cuTexObjectDestroy", [&] { return cudaDestroyTextureObject(object); });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC*, CUtexObject object) {
  return in_context("cuTexObjectGetResourceViewDesc",
                    [&] { return cudaGetTextureObjectResourceViewDesc(nullptr, object); });
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return in_context("cuSurfObjectCreate", [&]() -> cudaError_t {
    cudaResourceDesc its;
    if (resource == nullptr || !take_resource(*resource, its)) return cudaErrorInvalidValue;
    return cudaCreateSurfaceObject(object, &its);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject object) {
  return in_context("cuSurfObjectDestroy", [&] { return cudaDestroySurfaceObject(object); });
}

}  // extern "C"

}  // namespace simt::driver
