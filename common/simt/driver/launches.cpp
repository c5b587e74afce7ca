// Launches of functions, what they are asked and told before, and occupancy.
#include "common/simt/cudart/launches.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "common/simt/cudart/module.hpp"
#include "common/simt/driver/calls.hpp"
#include "common/simt/ptx/module.hpp"

namespace simt::driver {
namespace {

using cudart::Kernel;

Kernel* kernel_of(CUfunction function) { return cudart::find_kernel(function); }

// Arguments as the runtime takes them. The caller gave them one by one or, in `extra`, as one piece that is laid out as
// PTX has it.
class Arguments {
 public:
  Arguments(Kernel& kernel, void** one_by_one, void** extra) : all_(one_by_one) {
    if (extra == nullptr) return;
    std::byte* piece = nullptr;
    std::size_t bytes = 0;
    for (void** at = extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
      if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) piece = static_cast<std::byte*>(at[1]);
      if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(at[1]);
    }
    // Where each begins, and behind the last where they end.
    const std::vector<std::uint64_t> places = ptx::parameter_places(*kernel.code().function);
    is_whole_ = places.back() <= bytes && (piece != nullptr || places.back() == 0);
    for (std::size_t i = 0; i + 1 < places.size(); ++i) pointers_.push_back(piece + places[i]);
    all_ = pointers_.data();
  }
  bool is_whole() const { return is_whole_; }
  void** all() const { return all_; }

 private:
  void** all_;
  std::vector<void*> pointers_;
  bool is_whole_ = true;
};

CUresult launch_function(const char* name, CUfunction function, cudart::Launching what,
                         void** one_by_one, void** extra) {
  return in_stream(name, what.stream, [&]() -> CUresult {
    Kernel* const kernel = kernel_of(function);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (one_by_one != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudart::load(*kernel, name);
    const Arguments arguments(*kernel, one_by_one, extra);
    if (!arguments.is_whole()) {
      cudart::refuse_launch("arguments", kernel->name.c_str(),
                            "CU_LAUNCH_PARAM_BUFFER_SIZE is less than its parameters take");
      return CUDA_ERROR_INVALID_VALUE;
    }
    what.arguments = arguments.all();
    return result_of(cudart::launch(function, what));
  });
}

CUresult launch_config(const char* name, const CUlaunchConfig* config, cudart::Launching& what) {
  return answer(name, [&]() -> CUresult {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    what.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    what.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    what.dynamic_shared = config->sharedMemBytes;
    what.stream = config->hStream;
    for (unsigned int i = 0; i < config->numAttrs; ++i) {
      // The runtime's attributes are the driver's.
      static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
      cudaLaunchAttribute attribute;
      std::memcpy(&attribute, &config->attrs[i], sizeof attribute);
      if (const cudaError_t error = cudart::take_attribute(attribute, what); error != cudaSuccess) {
        return result_of(error);
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, const void* function) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Kernel* const kernel = cudart::find_kernel(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  cudaFuncAttributes its;
  if (const cudaError_t error = cudaFuncGetAttributes(&its, function); error != cudaSuccess) {
    return result_of(error);
  }
  const int* const cluster = kernel->function()->required_cluster;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = its.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(its.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(its.constSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(its.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = its.numRegs;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = its.ptxVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = its.binaryVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = its.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = its.preferredShmemCarveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = kernel->allows_large_clusters ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

cudaError_t set_function_attribute(const void* function, CUfunction_attribute attribute,
                                   int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) return cudaSuccess;
  return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream,
                        void** arguments, void** extra) {
  return launch_function("cuLaunchKernel", function,
                         {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_shared = shared,
                          .stream = stream},
                         arguments, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared, CUstream stream,
                                   void** arguments) {
  return launch_function("cuLaunchCooperativeKernel", function,
                         {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_shared = shared,
                          .stream = stream,
                          .is_cooperative = true},
                         arguments, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  cudart::Launching what;
  const CUresult result = launch_config("cuLaunchKernelEx", config, what);
  if (result != CUDA_SUCCESS) return result;
  return launch_function("cuLaunchKernelEx", function, what, arguments, extra);
}

// ---- Attributes ----

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return answer("cuFuncGetAttribute", [&] { return get_attribute(value, attribute, function); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return answer("cuFuncSetAttribute",
                [&] { return set_function_attribute(function, attribute, value); });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  return answer("cuKernelGetAttribute", [&] {
    return device == 0 ? get_attribute(value, attribute, kernel) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  return answer("cuKernelSetAttribute", [&] {
    return device == 0 ? set_function_attribute(kernel, attribute, value) : cudaErrorInvalidDevice;
  });
}

// Hints: they change nothing that is counted.
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return answer("cuFuncSetCacheConfig",
                [&] { return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return answer("cuFuncSetSharedMemConfig",
                [&] { return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return answer("cuKernelSetCacheConfig",
                [&] { return cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferNone); });
}
CUresult cuFuncLoad(CUfunction function) {
  return answer("cuFuncLoad", [&] {
    Kernel* const kernel = kernel_of(function);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    cudart::load(*kernel, "cuFuncLoad");
    return CUDA_SUCCESS;
  });
}

// ---- Occupancy ----

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t dynamic_shared) {
  return in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads,
                                                              std::size_t dynamic_shared,
                                                              unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t dynamic_shared,
                                          int limit) {
  return in_context("cuOccupancyMaxPotentialBlockSize", [&]() -> CUresult {
    if (grid == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes its;
    if (const cudaError_t error = cudaFuncGetAttributes(&its, function); error != cudaSuccess) {
      return result_of(error);
    }
    // The most threads that a multiprocessor holds; of sizes that are as good, the largest.
    Kernel& kernel = *kernel_of(function);
    const int most = limit > 0 ? std::min(limit, its.maxThreadsPerBlock) : its.maxThreadsPerBlock;
    int best = 0, blocks = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
      const int size = std::min(threads, most);
      const std::size_t shared = shared_of != nullptr ? shared_of(size) : dynamic_shared;
      const int fit = cudart::resident_blocks(kernel, size, shared);
      if (fit * size <= best) continue;
      best = fit * size;
      *block = size;
      blocks = fit;
    }
    if (best == 0) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    *grid = blocks * properties.multiProcessorCount;
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of,
                                                   std::size_t dynamic_shared, int limit,
                                                   unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, dynamic_shared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int threads) {
  return in_context("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  return in_context("cuOccupancyMaxPotentialClusterSize", [&] {
    Kernel* const kernel = kernel_of(function);
    if (blocks == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *blocks = static_cast<int>(cudart::most_cluster_blocks(*kernel));
    return CUDA_SUCCESS;
  });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return in_context("cuOccupancyMaxActiveClusters", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    cudaLaunchConfig_t its{};
    its.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
    its.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
    its.dynamicSmemBytes = config->sharedMemBytes;
    // The runtime's attributes are the driver's.
    its.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
    its.numAttrs = config->numAttrs;
    return cudaOccupancyMaxActiveClusters(clusters, function, &its);
  });
}

// ---- Launches as before CUDA 4: told piece by piece ----

namespace {

struct Told {
  dim3 block = {1, 1, 1};
  unsigned int shared = 0;
  std::vector<std::byte> parameters = {};
};
std::map<CUfunction, Told>& told_of_functions() {
  static std::map<CUfunction, Told>& all = *new std::map<CUfunction, Told>;
  return all;
}

CUresult tell_parameter(const char* name, CUfunction function, int offset, const void* value,
                        std::size_t bytes) {
  return in_context(name, [&] {
    if (offset < 0 || kernel_of(function) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::byte>& all = told_of_functions()[function].parameters;
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (all.size() < end) all.resize(end);
    std::memcpy(all.data() + offset, value, bytes);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return in_context("cuFuncSetBlockShape", [&] {
    if (x < 1 || y < 1 || z < 1) return CUDA_ERROR_INVALID_VALUE;
    told_of_functions()[function].block = {static_cast<unsigned>(x), static_cast<unsigned>(y),
                                           static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  return in_context("cuFuncSetSharedSize", [&] {
    told_of_functions()[function].shared = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
  return in_context("cuParamSetSize", [&] {
    told_of_functions()[function].parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return tell_parameter("cuParamSeti", function, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return tell_parameter("cuParamSetf", function, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned int bytes) {
  return tell_parameter("cuParamSetv", function, offset, value, bytes);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  const std::lock_guard lock(cudart::turn());
  Told& told = told_of_functions()[function];
  std::size_t bytes = told.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, told.parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return launch_function("cuLaunchGrid", function,
                         {.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1},
                          .block = told.block,
                          .dynamic_shared = told.shared,
                          .stream = stream},
                         nullptr, extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return cuLaunchGridAsync(function, width, height, nullptr);
}

CUresult cuLaunch(CUfunction function) { return cuLaunchGrid(function, 1, 1); }

}  // extern "C"

}  // namespace simt::driver
