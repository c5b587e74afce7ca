// The devices, their properties, attributes and limits.
#include "common/simt/cudart/devices.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/arrays.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/dropped_members.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/textures.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"

namespace simt::cudart {
namespace {

constexpr int kMostPitch = 2147483647;
std::string bus_id(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device));
  return text;
}

thread_local constinit int current = 0;
std::set<std::pair<int, int>> open_peers;  // whose kernels may touch whose memory; under turn()

// The extents of images that GPUs from compute capability 7.5 on take.
void fill_images(cudaDeviceProp& p) {
  const auto set = [](int* to, std::initializer_list<int> extents) {
    std::copy(extents.begin(), extents.end(), to);
  };
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  set(p.maxTexture2D, {131072, 65536});
  set(p.maxTexture2DMipmap, {32768, 32768});
  set(p.maxTexture2DLinear, {131072, 65000, 2097120});
  set(p.maxTexture2DGather, {32768, 32768});
  set(p.maxTexture3D, {16384, 16384, 16384});
  set(p.maxTexture3DAlt, {8192, 8192, 32768});
  p.maxTextureCubemap = 32768;
  set(p.maxTexture1DLayered, {32768, 2048});
  set(p.maxTexture2DLayered, {32768, 32768, 2048});
  set(p.maxTextureCubemapLayered, {32768, 2046});
  p.maxSurface1D = 32768;
  set(p.maxSurface2D, {131072, 65536});
  set(p.maxSurface3D, {16384, 16384, 16384});
  set(p.maxSurface1DLayered, {32768, 2048});
  set(p.maxSurface2DLayered, {32768, 32768, 2048});
  p.maxSurfaceCubemap = 32768;
  set(p.maxSurfaceCubemapLayered, {32768, 2046});
}

// What the simulator does not have is 0.
void fill(cudaDeviceProp& p, int device) {
  const halo::gpus::Gpu& gpu = current_gpu();
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s (simulated)", gpu.driver_name);
  p.totalGlobalMem = gpu.memory_bytes;
  p.sharedMemPerBlock = static_cast<std::size_t>(gpu.shared_per_block);
  p.regsPerBlock = kRegistersPerBlock;
  p.warpSize = kWarpSize;
  p.memPitch = kMostPitch;
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::copy_n(kMaxBlockExtent, 3, p.maxThreadsDim);
  std::copy_n(kMaxGridExtent, 3, p.maxGridSize);
  p.totalConstMem = kConstantBytes;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.textureAlignment = kPitchAlignment;
  p.texturePitchAlignment = kTexturePitchAlignment;
  p.multiProcessorCount = gpu.sms;
  p.canMapHostMemory = 1;
  p.surfaceAlignment = kPitchAlignment;
  p.concurrentKernels = 1;
  p.asyncEngineCount = gpu.copy_engines;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = gpu.memory_bus_bits;
  p.l2CacheSize = gpu.l2_bytes;
  p.maxThreadsPerMultiProcessor = gpu.threads_per_sm;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.shared_per_sm);
  p.regsPerMultiprocessor = gpu.registers_per_sm;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.shared_per_block_optin);
  p.maxBlocksPerMultiProcessor = gpu.blocks_per_sm;
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(gpu.shared_reserved_per_block);
  p.canUseHostPointerForRegisteredMem = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.pciBusID = device;
  static_assert(std::size(kDroppedMembers) <= std::size(cudaDeviceProp{}.reserved));
  int* dropped = p.reserved;
  for (const DroppedMember& one : kDroppedMembers) *dropped++ = value_of(one.attribute);
  fill_images(p);
}

}  // namespace

bool is_device(int device) { return device >= 0 && device < settings().devices; }
int current_device() { return current; }
UseDevice::UseDevice(int device) : before_(std::exchange(current, device)) {}
UseDevice::~UseDevice() { current = before_; }
bool may_access(int device, int other) {
  return device == other || open_peers.contains({device, other});
}

int value_of(cudaDeviceAttr attribute) {
  const halo::gpus::Gpu& gpu = current_gpu();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return kMaxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return kMaxBlockExtent[0];
    case cudaDevAttrMaxBlockDimY:
      return kMaxBlockExtent[1];
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockExtent[2];
    case cudaDevAttrMaxGridDimX:
      return static_cast<int>(kMaxGridExtent[0]);
    case cudaDevAttrMaxGridDimY:
      return static_cast<int>(kMaxGridExtent[1]);
    case cudaDevAttrMaxGridDimZ:
      return static_cast<int>(kMaxGridExtent[2]);
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return gpu.shared_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return gpu.shared_per_block_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return gpu.shared_per_sm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return gpu.shared_reserved_per_block;
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return kWarpSize;
    case cudaDevAttrMaxPitch:
      return kMostPitch;
    case cudaDevAttrMaxRegistersPerBlock:
      return kRegistersPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return gpu.registers_per_sm;
    case cudaDevAttrClockRate:
      return gpu.boost_clock_mhz * 1000;
    case cudaDevAttrMemoryClockRate:
      return gpu.memory_clock_mhz * 1000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return gpu.memory_bus_bits;
    case cudaDevAttrL2CacheSize:
      return gpu.l2_bytes;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
      return kPitchAlignment;
    case cudaDevAttrTexturePitchAlignment:
      return kTexturePitchAlignment;
    case cudaDevAttrMultiProcessorCount:
      return gpu.sms;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return gpu.threads_per_sm;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return gpu.blocks_per_sm;
    case cudaDevAttrComputeCapabilityMajor:
      return gpu.major;
    case cudaDevAttrComputeCapabilityMinor:
      return gpu.minor;
    case cudaDevAttrAsyncEngineCount:
      return gpu.copy_engines;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return gpu.fp64_ratio;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    default:
      return 0;
  }
}

namespace {

constexpr struct {
  cudaLimit limit;
  std::size_t value;
} kLimits[] = {
    {cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 8650752},
    {cudaLimitMallocHeapSize, 8388608},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
    {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 0},
};

// What the program has set; under turn().
std::map<int, std::size_t> limits_set;
unsigned int flags_set = 0;

// Null if it is no limit.
const std::size_t* limit_of(cudaLimit limit) {
  const auto set = limits_set.find(limit);
  if (set != limits_set.end()) return &set->second;
  for (const auto& known : kLimits) {
    if (known.limit == limit) return &known.value;
  }
  return nullptr;
}

}  // namespace

std::size_t heap_limit() { return *limit_of(cudaLimitMallocHeapSize); }

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return query("cudaGetDeviceCount", [&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = settings().devices;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return query("cudaGetDevice", [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  note_use_of_runtime();
  return query("cudaSetDevice", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return query("cudaInitDevice",
               [&] { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return query("cudaSetValidDevices", [&] {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    return std::all_of(devices, devices + count, [](int one) { return is_device(one); })
               ? cudaSuccess
               : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return query("cudaChooseDevice", [&] {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return query("cudaGetDeviceFlags", [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = flags_set;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return query("cudaSetDeviceFlags", [&] {
    if ((flags & ~0xffu) != 0) return cudaErrorInvalidValue;
    flags_set = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return query("cudaGetDeviceProperties", [&] {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    fill(*properties, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return query("cudaDeviceGetAttribute", [&] {
    if (value == nullptr || attribute < 1 || attribute >= cudaDevAttrMax) {
      return cudaErrorInvalidValue;
    }
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *value = attribute == cudaDevAttrPciBusId ? device : value_of(attribute);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [] {
    const cudaError_t error = check_no_capture("cudaDeviceSynchronize");
    if (error != cudaSuccess) return error;
    timeline::host_waited_for_device(current);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  return query("cudaDeviceReset", [] {
    waiting::end();
    for (const Block& block : blocks()) {
      if (block.device == current) release(block.begin);
    }
    for (Kernel* const kernel : all_kernels()) {
      kernel->dynamic_shared_limit = -1;
      kernel->allows_large_clusters = false;
    }
    forget_pools(current);
    forget_streams();
    forget_textures();
    forget_arrays();
    limits_set.clear();
    flags_set = 0;
    mend();
    forget_last_error();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::size_t* const its = limit_of(limit);
    if (its == nullptr) return cudaErrorUnsupportedLimit;
    *value = *its;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return outside_capture("cudaDeviceSetLimit", [&] {
    if (limit_of(limit) == nullptr) return cudaErrorUnsupportedLimit;
    limits_set[limit] = value;
    if (is_recording()) note_limit(limit, value);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call("cudaDeviceGetCacheConfig", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return outside_capture("cudaDeviceSetCacheConfig", [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call("cudaDeviceGetSharedMemConfig", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call("cudaDeviceSetSharedMemConfig", [] { return cudaSuccess; });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call("cudaCtxResetPersistingL2Cache", [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return query("cudaDeviceGetPCIBusId", [&] {
    if (text == nullptr || length < 1) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "%s", bus_id(device).c_str());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return query("cudaDeviceGetByPCIBusId", [&] {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    // Domain and function may be left out; all are hexadecimal, with or without leading zeros.
    unsigned int domain = 0, bus = 0, slot = 0, function = 0;
    int length = 0;
    const auto is_whole = [&](int read, int wanted) { return read == wanted && text[length] == 0; };
    if (!is_whole(std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &length),
                  4) &&
        !is_whole(std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &slot, &length), 3)) {
      domain = 0;
      if (!is_whole(std::sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &length), 3)) {
        return cudaErrorInvalidValue;
      }
    }
    if (domain != 0 || slot != 0 || function != 0 || !is_device(static_cast<int>(bus))) {
      return cudaErrorInvalidDevice;
    }
    *device = static_cast<int>(bus);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return query("cudaDeviceCanAccessPeer", [&] {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  return query("cudaDeviceGetP2PAttribute", [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer) || device == peer) return cudaErrorInvalidDevice;
    *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call("cudaDeviceEnablePeerAccess", [&] {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!is_device(peer) || peer == current) return cudaErrorInvalidDevice;
    return open_peers.insert({current, peer}).second ? cudaSuccess
                                                     : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&] {
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    return open_peers.erase({current, peer}) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return query("cudaDriverGetVersion", [&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaProfilerStart() {
  return call("cudaProfilerStart", [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return call("cudaProfilerStop", [] { return cudaSuccess; });
}

}  // extern "C"

}  // namespace simt::cudart
