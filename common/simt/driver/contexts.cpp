// cuInit, the one device, and contexts.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

// So that a call of the driver's is told by the line of the program that makes it.
[[maybe_unused]] const bool is_left_out =
    (cudart::leave_out_frames_of(reinterpret_cast<const void*>(&current_context)), true);

// Under turn().
struct Contexts {
  bool is_initialised = false;
  unsigned long long last_number = 0;
  CUctx_st primary;
  int retained = 0;  // how often the primary context is
  std::set<CUcontext> made;
};
Contexts& contexts() {
  static Contexts& all = *new Contexts;
  return all;
}

thread_local std::vector<CUcontext> stack;
// Below all of it is the primary context, which a call of the runtime's makes current: how many there had been when it was
// taken away.
thread_local constinit unsigned without_primary = 0;

bool is_context(CUcontext context) {
  return context == &contexts().primary || contexts().made.contains(context);
}

void take_last() {
  if (stack.empty()) {
    without_primary = cudart::uses_of_runtime();
  } else {
    stack.pop_back();
  }
}

CUresult push(CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult create(const char* name, CUcontext* context, unsigned int flags, CUdevice device) {
  return answer(name, [&]() -> CUresult {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *context = new CUctx_st{.flags = flags, .number = ++contexts().last_number};
    contexts().made.insert(*context);
    return push(*context);
  });
}

void empty(CUctx_st& context) {
  for (const CUmodule module : context.modules) {
    cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(module));
  }
  for (const CUdeviceptr address : context.memory) cudart::release(address);
  context.modules.clear();
  context.memory.clear();
}

CUresult destroy_context(CUcontext context) {
  if (!contexts().made.contains(context)) return CUDA_ERROR_INVALID_CONTEXT;
  cudaDeviceSynchronize();
  empty(*context);
  contexts().made.erase(context);
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  delete context;
  return CUDA_SUCCESS;
}

template <class Body>
CUresult on_device(const char* name, CUdevice device, Body body) {
  return answer(name, [&]() -> CUresult {
    return device == 0 ? result_of(body()) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

bool is_initialised() { return contexts().is_initialised || cudart::uses_of_runtime() != 0; }

CUcontext current_context() {
  if (!stack.empty()) {
    return stack.back() == nullptr || is_context(stack.back()) ? stack.back() : nullptr;
  }
  return cudart::uses_of_runtime() != without_primary ? &contexts().primary : nullptr;
}

CUcontext primary_context() { return &contexts().primary; }

void own_memory(CUdeviceptr address) {
  const CUcontext its = current_context();
  (its != nullptr ? its : primary_context())->memory.insert(address);
}
CUcontext context_of(CUdeviceptr begin) {
  for (const CUcontext one : contexts().made) {
    if (one->memory.contains(begin)) return one;
  }
  return primary_context();
}
void disown_memory(CUdeviceptr address) {
  contexts().primary.memory.erase(address);
  for (const CUcontext one : contexts().made) one->memory.erase(address);
}

extern "C" {

CUresult cuInit(unsigned int flags) {
  const std::lock_guard lock(cudart::turn());
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  contexts().is_initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

// ---- The device ----

CUresult cuDeviceGetCount(int* count) {
  return answer("cuDeviceGetCount", [&] { return cudaGetDeviceCount(count); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return on_device("cuDeviceGet", ordinal, [&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return on_device("cuDeviceGetName", device, [&] {
    if (name == nullptr || length < 1) return cudaErrorInvalidValue;
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    std::snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
    return error;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return on_device("cuDeviceGetUuid", device, [&] {
    if (uuid == nullptr) return cudaErrorInvalidValue;
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    static_assert(sizeof properties.uuid == sizeof *uuid);
    std::memcpy(uuid, &properties.uuid, sizeof *uuid);
    return error;
  });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return on_device("cuDeviceTotalMem", device, [&] {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    *bytes = properties.totalGlobalMem;
    return error;
  });
}

// Attributes have the numbers that they have in the runtime, which has not all.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return on_device("cuDeviceGetAttribute", device, [&] {
    if (value == nullptr || attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:
      case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
      case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
      case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:
        *value = 1;
        break;
      case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        *value = cudart::value_of(cudaDevAttrClusterLaunch);  // since Hopper, both
        break;
      default:
        *value = cudart::value_of(static_cast<cudaDeviceAttr>(attribute));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return on_device("cuDeviceComputeCapability", device, [&] {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = cudart::value_of(cudaDevAttrComputeCapabilityMajor);
    *minor = cudart::value_of(cudaDevAttrComputeCapabilityMinor);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return on_device("cuDeviceGetProperties", device, [&] {
    if (properties == nullptr) return cudaErrorInvalidValue;
    cudaDeviceProp its;
    const cudaError_t error = cudaGetDeviceProperties(&its, device);
    *properties = {};
    properties->maxThreadsPerBlock = its.maxThreadsPerBlock;
    std::copy_n(its.maxThreadsDim, 3, properties->maxThreadsDim);
    std::copy_n(its.maxGridSize, 3, properties->maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(its.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(its.totalConstMem);
    properties->SIMDWidth = its.warpSize;
    properties->memPitch = static_cast<int>(its.memPitch);
    properties->regsPerBlock = its.regsPerBlock;
    properties->clockRate = cudart::value_of(cudaDevAttrClockRate);
    properties->textureAlign = static_cast<int>(its.textureAlignment);
    return error;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return on_device("cuDeviceGetPCIBusId", device,
                   [&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return answer("cuDeviceGetByPCIBusId", [&] { return cudaDeviceGetByPCIBusId(device, text); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return answer("cuDeviceCanAccessPeer",
                [&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device,
                                 CUdevice peer) {
  return answer("cuDeviceGetP2PAttribute", [&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), device,
                                     peer);
  });
}

// ---- The primary context, which is the runtime's ----

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return on_device("cuDevicePrimaryCtxRetain", device, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ++contexts().retained;
    *context = &contexts().primary;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return on_device("cuDevicePrimaryCtxRelease", device, [&] {
    if (contexts().retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--contexts().retained == 0 && cudart::uses_of_runtime() == 0) empty(contexts().primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return on_device("cuDevicePrimaryCtxReset", device, [&] {
    empty(contexts().primary);
    return cudaDeviceReset();
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return on_device("cuDevicePrimaryCtxSetFlags", device, [&] {
    contexts().primary.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* is_active) {
  return on_device("cuDevicePrimaryCtxGetState", device, [&] {
    if (flags == nullptr || is_active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = contexts().primary.flags;
    *is_active = contexts().retained > 0 || cudart::uses_of_runtime() != 0 ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

// ---- Contexts ----

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
  return create("cuCtxCreate", context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  return answer("cuCtxDestroy", [&] { return destroy_context(context); });
}

CUresult cuCtxAttach(CUcontext* context, unsigned int flags) {
  return in_context("cuCtxAttach", [&] {
    if (context == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    ++(*context)->attached;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext context) {
  return answer("cuCtxDetach", [&] {
    if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    return --context->attached > 0 ? CUDA_SUCCESS : destroy_context(context);
  });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return answer("cuCtxPushCurrent", [&] { return push(context); });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return answer("cuCtxPopCurrent", [&] {
    if (stack.empty() && current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = stack.empty() ? primary_context() : stack.back();
    take_last();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return answer("cuCtxSetCurrent", [&] {
    if (context != nullptr && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    take_last();
    if (context != nullptr) stack.push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return answer("cuCtxGetCurrent", [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context("cuCtxGetDevice", [&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

// There is one device.
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return context == nullptr ? cuCtxGetDevice(device) : answer("cuCtxGetDevice", [&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return in_context("cuCtxGetFlags", [&] {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = current_context()->flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return in_context("cuCtxSetFlags", [&] {
    if ((flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    current_context()->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* number) {
  return in_context("cuCtxGetId", [&] {
    const CUcontext its = context != nullptr ? context : current_context();
    if (number == nullptr || !is_context(its)) return CUDA_ERROR_INVALID_VALUE;
    *number = its->number;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return answer("cuCtxGetApiVersion", [&] {
    if (context != nullptr && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return in_context("cuCtxSynchronize", [] { return cudaDeviceSynchronize(); });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return context == nullptr ? cuCtxSynchronize() : answer("cuCtxSynchronize", [&] {
    return is_context(context) ? result_of(cudaDeviceSynchronize()) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return in_context("cuCtxGetLimit",
                    [&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return in_context("cuCtxSetLimit",
                    [&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return in_context("cuCtxGetCacheConfig", [&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = current_context()->cache;
    return CUDA_SUCCESS;
  });
}

// Hints: they change nothing that is counted.
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return in_context("cuCtxSetCacheConfig", [&] {
    current_context()->cache = config;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return in_context("cuCtxGetSharedMemConfig", [&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return in_context("cuCtxSetSharedMemConfig", [] { return CUDA_SUCCESS; });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context("cuCtxGetStreamPriorityRange",
                    [&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

// There is no other device.
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
  return in_context("cuCtxEnablePeerAccess", [] { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; });
}
CUresult cuCtxDisablePeerAccess(CUcontext) {
  return in_context("cuCtxDisablePeerAccess", [] { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; });
}

CUresult cuProfilerStart() {
  return in_context("cuProfilerStart", [] { return CUDA_SUCCESS; });
}
CUresult cuProfilerStop() {
  return in_context("cuProfilerStop", [] { return CUDA_SUCCESS; });
}

}  // extern "C"

}  // namespace simt::driver
