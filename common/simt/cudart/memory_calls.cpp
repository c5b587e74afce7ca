// cudaMalloc and its like, what is known of a pointer, and memory pools.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/timeline.hpp"

// A pool gives out what cudaMalloc would, and knows how much.
struct CUmemPoolHandle_st {
  int device = 0;
  std::map<int, std::uint64_t> attributes = {};     // that the program has set
  std::set<int> opened_to = {};                     // other devices that may touch its memory
  std::map<std::uint64_t, std::size_t> taken = {};  // by address
  std::uint64_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;

  /// It has memory by such pieces, and keeps so much of it when all is given back.
  static constexpr std::uint64_t kPiece = std::uint64_t{32} << 20;
  std::uint64_t in_pieces() const { return (used + kPiece - 1) / kPiece * kPiece; }
  void take(std::uint64_t address, std::size_t bytes) {
    taken[address] = bytes;
    used += bytes;
    most_used = std::max(most_used, used);
    reserved = std::max(reserved, in_pieces());
    most_reserved = std::max(most_reserved, reserved);
  }
  void keep_at_most(std::uint64_t bytes) {
    reserved = std::max(in_pieces(), std::min(reserved, bytes));
  }
};

namespace simt::cudart {
namespace {

cudaError_t allocate_in_order(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) {
    explain("no place for a pointer",
            "there is no place for the pointer: pass the address of a pointer, &x");
    return cudaErrorInvalidValue;
  }
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = reinterpret_cast<void*>(allocate(bytes, kind));
  return cudaSuccess;
}

// CUDA C++ Programming Guide, implicit synchronization: blocking streams wait for an allocation.
cudaError_t allocate_for(void** pointer, std::size_t bytes, MemoryKind kind) {
  timeline::order_blocking_streams();
  return allocate_in_order(pointer, bytes, kind);
}

// Rows of so many bytes, as far apart as rows of cudaMallocPitch lie. False if that is more than there is.
bool pitched(std::size_t width, std::size_t rows, std::size_t& pitch, std::size_t& bytes) {
  constexpr std::size_t kAlignment = kPitchAlignment;
  if (width > ~std::size_t{0} - kAlignment) return false;
  pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
  return !__builtin_mul_overflow(pitch, rows, &bytes);
}

}  // namespace

void expect_order_of_free(void* pointer, int stream) {
  const Block* const block = block_at(reinterpret_cast<std::uint64_t>(pointer));
  if (block == nullptr) return;
  if (is_recording()) return note_free_in_order(block->begin, stream);
  Launch launch;
  launch.kernel = "cudaFreeAsync";
  timeline::Operation operation(stream, launch.kernel);
  if (!operation.remembers()) return;
  operation.touch(block->begin, block->bytes, timeline::Touch::writes);
  launch.findings = operation.findings();
  if (!launch.findings.empty()) record_launch(std::move(launch));
}

namespace {

std::set<cudaMemPool_t>& all_pools() {
  static auto& instance = *new std::set<cudaMemPool_t>;
  return instance;
}

// Those that were destroyed while a program still had memory of them.
std::set<cudaMemPool_t>& destroyed_pools() {
  static auto& instance = *new std::set<cudaMemPool_t>;
  return instance;
}

cudaMemPool_t default_pool(int device) {
  static auto& all = *new std::map<int, CUmemPoolHandle_st>;
  all[device].device = device;
  all_pools().insert(&all[device]);
  return &all[device];
}

// What cudaMallocAsync takes memory of, by device, where the program has chosen.
std::map<int, cudaMemPool_t>& chosen_pools() {
  static auto& instance = *new std::map<int, cudaMemPool_t>;
  return instance;
}
cudaMemPool_t pool_of(int device) {
  const auto found = chosen_pools().find(device);
  return found != chosen_pools().end() ? found->second : default_pool(device);
}

void give_back_to_pool(std::uint64_t address) {
  for (const cudaMemPool_t pool : all_pools()) {
    const auto found = pool->taken.find(address);
    if (found == pool->taken.end()) continue;
    pool->used -= found->second;
    pool->taken.erase(found);
    pool->keep_at_most(pool->attributes[cudaMemPoolAttrReleaseThreshold]);
  }
  for (const cudaMemPool_t pool : std::set(destroyed_pools())) {
    if (pool->taken.erase(address) == 0 || !pool->taken.empty()) continue;
    destroyed_pools().erase(pool);
    delete pool;
  }
}

cudaError_t destroy_pool(cudaMemPool_t pool) {
  for (int device = 0; device < settings().devices; ++device) {
    if (pool == default_pool(device)) return cudaErrorInvalidValue;
  }
  if (all_pools().erase(pool) == 0) return cudaErrorInvalidValue;
  std::erase_if(chosen_pools(), [&](const auto& one) { return one.second == pool; });
  if (pool->taken.empty()) {
    delete pool;
  } else {
    destroyed_pools().insert(pool);
  }
  return cudaSuccess;
}

// Of the device that a location names.
cudaError_t at_location(const char* name, const cudaMemLocation* location,
                        cudaMemAllocationType type, Body<cudaError_t(int)> body) {
  return query(name, [&]() -> cudaError_t {
    if (location == nullptr || type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
    if (!is_device(location->id)) return cudaErrorInvalidDevice;
    return body(location->id);
  });
}

cudaError_t free_block(const char* name, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* const block = block_at(address);
  const bool is_start = block != nullptr && block->begin == address;
  // What a graph allocates is there whenever it is launched.
  if (is_start && block->kind == MemoryKind::graph) {
    take_graph_memory(pointer, false);
    return cudaSuccess;
  }
  if (is_start && (block->kind == MemoryKind::device || block->kind == MemoryKind::managed)) {
    give_back_to_pool(address);
    release(address);
    return cudaSuccess;
  }
  if (is_start && block->kind == MemoryKind::pinned) {
    explain("free of pinned", "%s: %p is pinned host memory: release it with cudaFreeHost", name,
            pointer);
  } else if (block != nullptr) {
    explain("free inside", "%s: %p is not the start of an allocation", name, pointer);
  } else if (!arena().contains(address)) {
    explain("free of host", "%s: %p is not a pointer that cudaMalloc gave", name, pointer);
  } else {
    explain("double free", "%s: %p was freed before", name, pointer);
  }
  return cudaErrorInvalidValue;
}

// Of a graph that is being captured, a node.
cudaError_t allocate_on(cudaStream_t stream, void** pointer, std::size_t bytes,
                        cudaMemPool_t pool) {
  if (!is_captured(stream)) {
    cudaError_t error = check_unsafe("cudaMallocAsync");
    if (error != cudaSuccess) return error;
    error = allocate_in_order(pointer, bytes, MemoryKind::device);
    if (error != cudaSuccess || *pointer == nullptr) return error;
    pool->take(reinterpret_cast<std::uint64_t>(*pointer), bytes);
    if (!is_recording()) {
      // Who uses the memory on another stream must come after that. Nothing can have come before.
      timeline::Operation operation(number_of(stream), "cudaMallocAsync");
      if (operation.remembers()) {
        operation.touch(reinterpret_cast<std::uint64_t>(*pointer), bytes, timeline::Touch::writes);
      }
    }
    return error;
  }
  const cudaError_t error = allocate_in_order(pointer, bytes, MemoryKind::graph);
  if (error != cudaSuccess) return error;
  const auto take = [taken = *pointer] {
    take_graph_memory(taken, true);
    return cudaSuccess;
  };
  return enqueue(stream, cudaGraphNodeTypeMemAlloc, take, {.memory = *pointer, .bytes = bytes});
}

// What a handle for other processes holds.
struct Exported {
  pid_t process;
  std::uint64_t address;
};
static_assert(sizeof(Exported) <= sizeof(cudaIpcMemHandle_t));

}  // namespace

std::optional<bool> is_opened_by_pool(std::uint64_t begin, int device) {
  for (const auto* const pools : {&all_pools(), &destroyed_pools()}) {
    for (const cudaMemPool_t pool : *pools) {
      if (pool->taken.contains(begin)) return pool->opened_to.contains(device);
    }
  }
  return std::nullopt;
}

void forget_pools(int device) {
  graph_memory() = {};
  *default_pool(device) = {.device = device};
  for (const cudaMemPool_t pool : std::set(all_pools())) {
    if (pool->device == device) destroy_pool(pool);
  }
  std::erase_if(destroyed_pools(), [&](const cudaMemPool_t pool) {
    const bool goes = pool->device == device;
    if (goes) delete pool;
    return goes;
  });
}

extern "C" {

// ---- Memory of the device ----

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return outside_capture("cudaMalloc",
                         [&] { return allocate_for(pointer, bytes, MemoryKind::device); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return outside_capture("cudaMallocPitch", [&]() -> cudaError_t {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    std::size_t bytes = 0;
    if (!pitched(width, height, *pitch, bytes)) return cudaErrorMemoryAllocation;
    return allocate_for(pointer, bytes, MemoryKind::device);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched_pointer, cudaExtent extent) {
  return outside_capture("cudaMalloc3D", [&]() -> cudaError_t {
    if (pitched_pointer == nullptr) return cudaErrorInvalidValue;
    std::size_t rows = 0, bytes = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows) ||
        !pitched(extent.width, rows, pitched_pointer->pitch, bytes)) {
      return cudaErrorMemoryAllocation;
    }
    pitched_pointer->xsize = extent.width;
    pitched_pointer->ysize = extent.height;
    return allocate_for(&pitched_pointer->ptr, bytes, MemoryKind::device);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return on_stream("cudaMallocAsync", stream,
                   [&] { return allocate_on(stream, pointer, bytes, pool_of(device_of(stream))); });
}

cudaError_t cudaFree(void* pointer) {
  return outside_capture("cudaFree", [&] {
    timeline::host_waited_for_device(current_device());
    return free_block("cudaFree", pointer);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return work_on_stream("cudaFreeAsync", stream, cudaGraphNodeTypeMemFree, [=] {
    expect_order_of_free(pointer, number_of(stream));
    return free_block("cudaFreeAsync", pointer);
  });
}

// ---- Memory of both ----

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
  return outside_capture("cudaMallocManaged", [&]() -> cudaError_t {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate_for(pointer, bytes, MemoryKind::managed);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return outside_capture("cudaHostAlloc", [&]() -> cudaError_t {
    constexpr unsigned int kFlags =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kFlags) != 0) return cudaErrorInvalidValue;
    const cudaError_t error = allocate_for(pointer, bytes, MemoryKind::pinned);
    if (error == cudaSuccess && *pointer != nullptr) {
      give_flags(reinterpret_cast<std::uint64_t>(*pointer), flags);
    }
    return error;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return outside_capture("cudaMallocHost",
                         [&] { return allocate_for(pointer, bytes, MemoryKind::pinned); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return outside_capture("cudaFreeHost", [&] {
    if (pointer == nullptr) return cudaSuccess;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Block* const block = block_at(address);
    if (block == nullptr || block->begin != address || block->kind != MemoryKind::pinned) {
      return cudaErrorInvalidValue;
    }
    timeline::host_waited_for_device(current_device());
    release(address);
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return outside_capture("cudaHostRegister", [&]() -> cudaError_t {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (pointer == nullptr || bytes == 0 || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (block_at(pointer) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    if (is_recording()) return refuse_to_note("cudaHostRegister lends host memory to kernels");
    lend(pointer, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return outside_capture("cudaHostUnregister", [&] {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Block* const block = block_at(address);
    if (address == 0 || (block != nullptr && block->is_of_device())) return cudaErrorInvalidValue;
    if (block == nullptr || block->begin != address || block->kind != MemoryKind::registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    release(address);
    return cudaSuccess;
  });
}

// It is where the device sees it: all addresses mean the same on both sides.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return call("cudaHostGetDevicePointer", [&] {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Block* const block = block_at(host);
    if (block == nullptr || block->is_of_device()) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return call("cudaHostGetFlags", [&] {
    const Block* const block = block_at(host);
    if (flags == nullptr || block == nullptr || block->is_of_device()) return cudaErrorInvalidValue;
    *flags = block->flags | cudaHostAllocMapped;  // all are, whatever was asked for
    return cudaSuccess;
  });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// ---- What is known of memory ----

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call("cudaMemGetInfo", [&] {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *total_bytes = current_gpu().memory_bytes;
    *free_bytes = *total_bytes - bytes_in_use();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return query("cudaPointerGetAttributes", [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const address = const_cast<void*>(pointer);
    const Block* const block = block_at(pointer);
    *attributes = {};
    if (block == nullptr) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
      return cudaSuccess;
    }
    const bool is_managed =
        block->kind == MemoryKind::managed || block->kind == MemoryKind::managed_variable;
    attributes->type = !block->is_of_device() ? cudaMemoryTypeHost
                       : is_managed           ? cudaMemoryTypeManaged
                                              : cudaMemoryTypeDevice;
    attributes->device = block->device;
    attributes->devicePointer = address;
    if (is_managed || !block->is_of_device()) attributes->hostPointer = address;
    return cudaSuccess;
  });
}

// ---- Memory of graphs, and of other processes ----

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return query("cudaDeviceGetGraphMemAttribute", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (value == nullptr || attribute > cudaGraphMemAttrReservedMemHigh) {
      return cudaErrorInvalidValue;
    }
    const UseDevice use(device);
    const GraphMemory& its = graph_memory();
    *static_cast<std::uint64_t*>(value) =
        attribute == cudaGraphMemAttrUsedMemCurrent       ? its.taken
        : attribute == cudaGraphMemAttrUsedMemHigh        ? its.most_taken
        : attribute == cudaGraphMemAttrReservedMemCurrent ? its.reserved
                                                          : its.most_reserved;
    return cudaSuccess;
  });
}

// The greatest may be forgotten.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return query("cudaDeviceSetGraphMemAttribute", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const bool is_high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (value == nullptr || !is_high || *static_cast<std::uint64_t*>(value) != 0) {
      return cudaErrorInvalidValue;
    }
    const UseDevice use(device);
    GraphMemory& its = graph_memory();
    if (attribute == cudaGraphMemAttrUsedMemHigh) {
      its.most_taken = its.taken;
    } else {
      its.most_reserved = its.reserved;
    }
    return cudaSuccess;
  });
}

// A graph's memory is there for its next launch.
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return query("cudaDeviceGraphMemTrim",
               [&] { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return call("cudaIpcGetMemHandle", [&] {
    const Block* const block = block_at(pointer);
    if (handle == nullptr || block == nullptr || block->kind != MemoryKind::device) {
      return cudaErrorInvalidValue;
    }
    *handle = {};
    const Exported exported{getpid(), block->begin};
    std::memcpy(handle->reserved, &exported, sizeof exported);
    return cudaSuccess;
  });
}

// Each process simulates devices of its own.
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  return call("cudaIpcOpenMemHandle", [&] {
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    Exported exported;
    std::memcpy(&exported, handle.reserved, sizeof exported);
    if (exported.process != getpid()) {
      explain("memory of another process",
              "cudaIpcOpenMemHandle: the memory is of process %d, and only the process that has "
              "allocated memory reaches it in the simulator",
              static_cast<int>(exported.process));
      return cudaErrorNotSupported;
    }
    if (block_at(exported.address) == nullptr) return cudaErrorInvalidResourceHandle;
    *pointer = reinterpret_cast<void*>(exported.address);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return call("cudaIpcCloseMemHandle",
              [&] { return block_at(pointer) != nullptr ? cudaSuccess : cudaErrorInvalidValue; });
}

// ---- Pools ----

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return query("cudaDeviceGetDefaultMemPool", [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = default_pool(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return query("cudaDeviceGetMemPool", [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = pool_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return query("cudaDeviceSetMemPool", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!all_pools().contains(pool)) return cudaErrorInvalidValue;
    chosen_pools()[device] = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return at_location("cudaMemGetDefaultMemPool", location, type,
                     [&](int device) { return cudaDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return at_location("cudaMemGetMemPool", location, type,
                     [&](int device) { return cudaDeviceGetMemPool(pool, device); });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return at_location("cudaMemSetMemPool", location, type,
                     [&](int device) { return cudaDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call("cudaMemPoolCreate", [&] {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    *pool = new CUmemPoolHandle_st{.device = properties->location.id};
    all_pools().insert(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call("cudaMemPoolDestroy", [&] { return destroy_pool(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
  return call("cudaMemPoolTrimTo", [&] {
    if (!all_pools().contains(pool)) return cudaErrorInvalidValue;
    pool->keep_at_most(bytes);
    return cudaSuccess;
  });
}

// Values have four bytes or eight.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolSetAttribute", [&] {
    if (!all_pools().contains(pool) || value == nullptr) return cudaErrorInvalidValue;
    const bool is_wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    if (attribute > cudaMemPoolAttrReleaseThreshold) {
      const bool is_used = attribute == cudaMemPoolAttrUsedMemHigh;
      if ((!is_used && attribute != cudaMemPoolAttrReservedMemHigh) ||
          *static_cast<std::uint64_t*>(value) != 0) {
        return cudaErrorInvalidValue;
      }
      (is_used ? pool->most_used : pool->most_reserved) = is_used ? pool->used : pool->reserved;
      return cudaSuccess;
    }
    pool->attributes[attribute] = is_wide ? *static_cast<std::uint64_t*>(value)
                                          : static_cast<std::uint64_t>(*static_cast<int*>(value));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolGetAttribute", [&] {
    if (!all_pools().contains(pool) || value == nullptr) return cudaErrorInvalidValue;
    const bool is_wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    const auto set = pool->attributes.find(attribute);
    // What may be reused is on unless it was switched off; thresholds begin at 0.
    const std::uint64_t its = set != pool->attributes.end() ? set->second : is_wide ? 0 : 1;
    if (is_wide) {
      *static_cast<std::uint64_t*>(value) =
          attribute == cudaMemPoolAttrUsedMemCurrent       ? pool->used
          : attribute == cudaMemPoolAttrUsedMemHigh        ? pool->most_used
          : attribute == cudaMemPoolAttrReservedMemCurrent ? pool->reserved
          : attribute == cudaMemPoolAttrReservedMemHigh    ? pool->most_reserved
                                                           : its;
    } else {
      *static_cast<int*>(value) = static_cast<int>(its);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return on_stream("cudaMallocFromPoolAsync", stream, [&]() -> cudaError_t {
    if (!all_pools().contains(pool)) return cudaErrorInvalidValue;
    return allocate_on(stream, pointer, bytes, pool);
  });
}

// There is no other device to let in.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* all,
                                 std::size_t count) {
  return call("cudaMemPoolSetAccess", [&] {
    if (!all_pools().contains(pool) || (all == nullptr && count != 0)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (all[i].location.type != cudaMemLocationTypeDevice || !is_device(all[i].location.id))
        continue;
      if (all[i].flags != cudaMemAccessFlagsProtNone) {
        pool->opened_to.insert(all[i].location.id);
      } else {
        pool->opened_to.erase(all[i].location.id);
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return call("cudaMemPoolGetAccess", [&] {
    if (flags == nullptr || !all_pools().contains(pool) || location == nullptr) {
      return cudaErrorInvalidValue;
    }
    const bool is_open = location->type == cudaMemLocationTypeDevice &&
                         (location->id == pool->device || pool->opened_to.contains(location->id));
    *flags = is_open ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
