// The devices, their properties, attributes and limits.
#include "common/simt/cudart/devices.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
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
constexpr std::size_t kMostStack = 512 << 10;  // local memory of a thread
std::string bus_id(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device));
  return text;
}

thread_local constinit int current = 0;
std::set<std::pair<int, int>> open_peers;  // whose kernels may touch whose memory; under turn()

// The extents of images that GPUs from compute capability 7.5 on take.
constexpr struct {
  cudaDeviceAttr attribute;
  int value;
} kImageExtents[] = {
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768},
    {cudaDevAttrMaxTextureCubemapWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxSurface1DWidth, 32768},
    {cudaDevAttrMaxSurface2DWidth, 131072},
    {cudaDevAttrMaxSurface2DHeight, 65536},
    {cudaDevAttrMaxSurface3DWidth, 16384},
    {cudaDevAttrMaxSurface3DHeight, 16384},
    {cudaDevAttrMaxSurface3DDepth, 16384},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
};

// Width, height, depth or layers have numbers that follow each other.
void fill_images(cudaDeviceProp& p) {
  const auto set = [](int* to, cudaDeviceAttr first, int count) {
    for (int i = 0; i < count; ++i) to[i] = value_of(static_cast<cudaDeviceAttr>(first + i));
  };
  set(&p.maxTexture1D, cudaDevAttrMaxTexture1DWidth, 1);
  set(&p.maxTexture1DMipmap, cudaDevAttrMaxTexture1DMipmappedWidth, 1);
  set(p.maxTexture2D, cudaDevAttrMaxTexture2DWidth, 2);
  set(p.maxTexture2DMipmap, cudaDevAttrMaxTexture2DMipmappedWidth, 2);
  set(p.maxTexture2DLinear, cudaDevAttrMaxTexture2DLinearWidth, 3);
  set(p.maxTexture2DGather, cudaDevAttrMaxTexture2DGatherWidth, 2);
  set(p.maxTexture3D, cudaDevAttrMaxTexture3DWidth, 3);
  set(p.maxTexture3DAlt, cudaDevAttrMaxTexture3DWidthAlt, 3);
  set(&p.maxTextureCubemap, cudaDevAttrMaxTextureCubemapWidth, 1);
  set(p.maxTexture1DLayered, cudaDevAttrMaxTexture1DLayeredWidth, 2);
  set(p.maxTexture2DLayered, cudaDevAttrMaxTexture2DLayeredWidth, 3);
  set(p.maxTextureCubemapLayered, cudaDevAttrMaxTextureCubemapLayeredWidth, 2);
  set(&p.maxSurface1D, cudaDevAttrMaxSurface1DWidth, 1);
  set(p.maxSurface2D, cudaDevAttrMaxSurface2DWidth, 2);
  set(p.maxSurface3D, cudaDevAttrMaxSurface3DWidth, 3);
  set(p.maxSurface1DLayered, cudaDevAttrMaxSurface1DLayeredWidth, 2);
  set(p.maxSurface2DLayered, cudaDevAttrMaxSurface2DLayeredWidth, 3);
  set(&p.maxSurfaceCubemap, cudaDevAttrMaxSurfaceCubemapWidth, 1);
  set(p.maxSurfaceCubemapLayered, cudaDevAttrMaxSurfaceCubemapLayeredWidth, 2);
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
  p.persistingL2CacheMaxSize = value_of(cudaDevAttrMaxPersistingL2CacheSize);
  p.accessPolicyMaxWindowSize = value_of(cudaDevAttrMaxAccessPolicyWindowSize);
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
  p.hostRegisterReadOnlySupported = 1;
  p.computePreemptionSupported = 1;
  p.unifiedFunctionPointers = 1;
  p.clusterLaunch = value_of(cudaDevAttrClusterLaunch);
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
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrComputePreemptionSupported:
      return 1;
    // A part of L2 that can be kept for what is named: nobody sees it here.
    case cudaDevAttrMaxPersistingL2CacheSize:
      return gpu.major >= 9 ? gpu.l2_bytes / 8 * 5 : gpu.major == 8 ? gpu.l2_bytes / 4 * 3 : 0;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return gpu.major >= 8 ? 128 << 20 : 0;
    case cudaDevAttrClusterLaunch:
      return gpu.major >= 9 ? 1 : 0;
    default:
      break;
  }
  for (const auto& [image, extent] : kImageExtents) {
    if (image == attribute) return extent;
  }
  return 0;
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
    *flags = flags_set | cudaDeviceMapHost;
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
      kernel->shared_carveout = -1;
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
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    if (limit_of(limit) == nullptr) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitStackSize && value > kMostStack) return cudaErrorInvalidValue;
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
    if (text == nullptr || length <= static_cast<int>(bus_id(device).size())) {
      return cudaErrorInvalidValue;
    }
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
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    if (peer == current) return cudaErrorPeerAccessUnsupported;
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
