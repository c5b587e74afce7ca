// What the driver answers, and where its functions are.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

// Null if there is no such result.
const char* name_of(CUresult result) {
  switch (result) {
#define SIMT_NAME(name) \
  case name:            \
    return #name;
    SIMT_NAME(CUDA_SUCCESS)
    SIMT_NAME(CUDA_ERROR_INVALID_VALUE)
    SIMT_NAME(CUDA_ERROR_OUT_OF_MEMORY)
    SIMT_NAME(CUDA_ERROR_NOT_INITIALIZED)
    SIMT_NAME(CUDA_ERROR_DEINITIALIZED)
    SIMT_NAME(CUDA_ERROR_PROFILER_DISABLED)
    SIMT_NAME(CUDA_ERROR_PROFILER_NOT_INITIALIZED)
    SIMT_NAME(CUDA_ERROR_PROFILER_ALREADY_STARTED)
    SIMT_NAME(CUDA_ERROR_PROFILER_ALREADY_STOPPED)
    SIMT_NAME(CUDA_ERROR_STUB_LIBRARY)
    SIMT_NAME(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER)
    SIMT_NAME(CUDA_ERROR_DEVICE_UNAVAILABLE)
    SIMT_NAME(CUDA_ERROR_NO_DEVICE)
    SIMT_NAME(CUDA_ERROR_INVALID_DEVICE)
    SIMT_NAME(CUDA_ERROR_DEVICE_NOT_LICENSED)
    SIMT_NAME(CUDA_ERROR_INVALID_IMAGE)
    SIMT_NAME(CUDA_ERROR_INVALID_CONTEXT)
    SIMT_NAME(CUDA_ERROR_CONTEXT_ALREADY_CURRENT)
    SIMT_NAME(CUDA_ERROR_MAP_FAILED)
    SIMT_NAME(CUDA_ERROR_UNMAP_FAILED)
    SIMT_NAME(CUDA_ERROR_ARRAY_IS_MAPPED)
    SIMT_NAME(CUDA_ERROR_ALREADY_MAPPED)
    SIMT_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
    SIMT_NAME(CUDA_ERROR_ALREADY_ACQUIRED)
    SIMT_NAME(CUDA_ERROR_NOT_MAPPED)
    SIMT_NAME(CUDA_ERROR_NOT_MAPPED_AS_ARRAY)
    SIMT_NAME(CUDA_ERROR_NOT_MAPPED_AS_POINTER)
    SIMT_NAME(CUDA_ERROR_ECC_UNCORRECTABLE)
    SIMT_NAME(CUDA_ERROR_UNSUPPORTED_LIMIT)
    SIMT_NAME(CUDA_ERROR_CONTEXT_ALREADY_IN_USE)
    SIMT_NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
    SIMT_NAME(CUDA_ERROR_INVALID_PTX)
    SIMT_NAME(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT)
    SIMT_NAME(CUDA_ERROR_NVLINK_UNCORRECTABLE)
    SIMT_NAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
    SIMT_NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    SIMT_NAME(CUDA_ERROR_JIT_COMPILATION_DISABLED)
    SIMT_NAME(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
    SIMT_NAME(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC)
    SIMT_NAME(CUDA_ERROR_CONTAINED)
    SIMT_NAME(CUDA_ERROR_INVALID_SOURCE)
    SIMT_NAME(CUDA_ERROR_FILE_NOT_FOUND)
    SIMT_NAME(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)
    SIMT_NAME(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED)
    SIMT_NAME(CUDA_ERROR_OPERATING_SYSTEM)
    SIMT_NAME(CUDA_ERROR_INVALID_HANDLE)
    SIMT_NAME(CUDA_ERROR_ILLEGAL_STATE)
    SIMT_NAME(CUDA_ERROR_LOSSY_QUERY)
    SIMT_NAME(CUDA_ERROR_NOT_FOUND)
    SIMT_NAME(CUDA_ERROR_NOT_READY)
    SIMT_NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
    SIMT_NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    SIMT_NAME(CUDA_ERROR_LAUNCH_TIMEOUT)
    SIMT_NAME(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING)
    SIMT_NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    SIMT_NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    SIMT_NAME(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE)
    SIMT_NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED)
    SIMT_NAME(CUDA_ERROR_ASSERT)
    SIMT_NAME(CUDA_ERROR_TOO_MANY_PEERS)
    SIMT_NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
    SIMT_NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
    SIMT_NAME(CUDA_ERROR_HARDWARE_STACK_ERROR)
    SIMT_NAME(CUDA_ERROR_ILLEGAL_INSTRUCTION)
    SIMT_NAME(CUDA_ERROR_MISALIGNED_ADDRESS)
    SIMT_NAME(CUDA_ERROR_INVALID_ADDRESS_SPACE)
    SIMT_NAME(CUDA_ERROR_INVALID_PC)
    SIMT_NAME(CUDA_ERROR_LAUNCH_FAILED)
    SIMT_NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    SIMT_NAME(CUDA_ERROR_TENSOR_MEMORY_LEAK)
    SIMT_NAME(CUDA_ERROR_NOT_PERMITTED)
    SIMT_NAME(CUDA_ERROR_NOT_SUPPORTED)
    SIMT_NAME(CUDA_ERROR_SYSTEM_NOT_READY)
    SIMT_NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
    SIMT_NAME(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)
    SIMT_NAME(CUDA_ERROR_MPS_CONNECTION_FAILED)
    SIMT_NAME(CUDA_ERROR_MPS_RPC_FAILURE)
    SIMT_NAME(CUDA_ERROR_MPS_SERVER_NOT_READY)
    SIMT_NAME(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED)
    SIMT_NAME(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED)
    SIMT_NAME(CUDA_ERROR_MPS_CLIENT_TERMINATED)
    SIMT_NAME(CUDA_ERROR_CDP_NOT_SUPPORTED)
    SIMT_NAME(CUDA_ERROR_CDP_VERSION_MISMATCH)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    SIMT_NAME(CUDA_ERROR_CAPTURED_EVENT)
    SIMT_NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    SIMT_NAME(CUDA_ERROR_TIMEOUT)
    SIMT_NAME(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    SIMT_NAME(CUDA_ERROR_EXTERNAL_DEVICE)
    SIMT_NAME(CUDA_ERROR_INVALID_CLUSTER_SIZE)
    SIMT_NAME(CUDA_ERROR_FUNCTION_NOT_LOADED)
    SIMT_NAME(CUDA_ERROR_INVALID_RESOURCE_TYPE)
    SIMT_NAME(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)
    SIMT_NAME(CUDA_ERROR_KEY_ROTATION)
    SIMT_NAME(CUDA_ERROR_UNKNOWN)
#undef SIMT_NAME
  }
  return nullptr;
}

constexpr int kAnyVersion = std::numeric_limits<int>::max();

// Functions whose parameters changed: what a program of an older CUDA means. Of all others it is the newest.
constexpr struct {
  std::string_view name;
  int before;  // CUDA's version
  const char* symbol;
} kOlder[] = {
    {"cuCtxCreate", 11040, "cuCtxCreate_v2"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v3"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies"},
    {"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode"},
    {"cuGraphExecKernelNodeSetParams", 12000, "cuGraphExecKernelNodeSetParams"},
    {"cuGraphExecUpdate", 12000, "cuGraphExecUpdate"},
    {"cuGraphGetEdges", 12030, "cuGraphGetEdges"},
    {"cuGraphInstantiate", 12000, "cuGraphInstantiate_v2"},
    {"cuGraphInstantiate", kAnyVersion, "cuGraphInstantiateWithFlags"},
    {"cuGraphKernelNodeGetParams", 12000, "cuGraphKernelNodeGetParams"},
    {"cuGraphKernelNodeSetParams", 12000, "cuGraphKernelNodeSetParams"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies"},
    {"cuGraphNodeGetDependentNodes", 12030, "cuGraphNodeGetDependentNodes"},
    {"cuGraphRemoveDependencies", 12030, "cuGraphRemoveDependencies"},
    {"cuMemAdvise", 12020, "cuMemAdvise"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync"},
    {"cuMemcpyBatchAsync", 13000, "cuMemcpyBatchAsync"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies"},
};

void* own_symbol(const std::string& symbol) {
  static void* const own = [] {
    Dl_info its{};
    dladdr(reinterpret_cast<void*>(&own_symbol), &its);
    return dlopen(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return dlsym(own, symbol.c_str());
}

void* find_function(const std::string& name, int version) {
  const auto* const older =
      std::find_if(std::begin(kOlder), std::end(kOlder),
                   [&](const auto& one) { return one.name == name && version < one.before; });
  if (older != std::end(kOlder)) return own_symbol(older->symbol);
  for (const char* const suffix : {"_v4", "_v3", "_v2", ""}) {
    if (void* const found = own_symbol(name + suffix)) return found;
  }
  return nullptr;
}

// All names of cuda.h are there. Of others nothing is said, as by NVIDIA's: packages ask for those of all versions of CUDA.
CUresult find_entry(const char* symbol, void** function, int version,
                    CUdriverProcAddressQueryResult* status) {
  const std::lock_guard lock(cudart::turn());
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = std::string_view(symbol).starts_with("cu") ? find_function(symbol, version) : nullptr;
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;  // as NVIDIA's says, whether there is such a function or not
}

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    default:
      break;
  }
  const auto same = static_cast<CUresult>(error);
  return name_of(same) != nullptr ? same : CUDA_ERROR_UNKNOWN;
}

KeptLastError::KeptLastError() : before_(cudart::exchange_last_error(cudaSuccess)) {}
KeptLastError::~KeptLastError() { cudart::exchange_last_error(before_); }

extern "C" {

CUresult cuGetErrorName(CUresult result, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(result);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Of a number that both sides have the text is the same.
CUresult cuGetErrorString(CUresult result, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text =
      name_of(result) != nullptr ? cudaGetErrorString(static_cast<cudaError_t>(result)) : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  return find_entry(symbol, function, version, status);
}

}  // extern "C"

}  // namespace simt::driver
