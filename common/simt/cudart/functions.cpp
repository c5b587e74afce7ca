// What host code asks of kernels and sets for them.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/cudart/module.hpp"

namespace simt::cudart {
namespace {

// PTX does not say how many registers ptxas will take: so many let a multiprocessor be full of threads.
constexpr int kRegisters = 32;

int most_threads(Kernel& kernel) {
  const ptx::Function& its = *kernel.code().function;
  for (const auto& bounds : {its.required_threads, its.max_threads}) {
    if (bounds[0] != 0) return bounds[0] * bounds[1] * bounds[2];
  }
  return kMaxThreadsPerBlock;
}

cudaError_t on_kernel(const char* name, const void* function, Body<cudaError_t(Kernel&)> body) {
  return call(name, [&]() -> cudaError_t {
    Kernel* const kernel = find_kernel(function);
    return kernel != nullptr ? body(*kernel) : no_kernel(function);
  });
}

cudaError_t set_attribute(Kernel& kernel, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      kernel.shared_carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      if (value != 0 && value != 1) return cudaErrorInvalidValue;
      kernel.allows_large_clusters = value == 1;
      return cudaSuccess;
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      break;
    default:
      return cudaErrorInvalidValue;
  }
  const int most =
      current_gpu().shared_per_block_optin - static_cast<int>(kernel.code().static_shared);
  if (value < 0 || value > most) {
    explain("shared attribute",
            "cudaFuncSetAttribute: %d bytes of dynamic shared memory, %s has %d left for %s", value,
            current_gpu().key, most, kernel.name.c_str());
    return cudaErrorInvalidValue;
  }
  kernel.dynamic_shared_limit = value;
  return cudaSuccess;
}

}  // namespace

cudaFuncAttributes attributes_of(Kernel& kernel) {
  const machine::Code& code = kernel.code();
  const halo::gpus::Gpu& gpu = current_gpu();
  cudaFuncAttributes its{};
  its.sharedSizeBytes = code.static_shared;
  its.constSizeBytes = kernel.module->constants_bytes();
  its.localSizeBytes = code.local;
  its.maxThreadsPerBlock = most_threads(kernel);
  its.numRegs = kRegisters;
  its.ptxVersion = its.binaryVersion = 10 * gpu.major + gpu.minor;
  its.maxDynamicSharedSizeBytes = dynamic_shared_limit(kernel);
  its.preferredShmemCarveout = kernel.shared_carveout;
  return its;
}

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return on_kernel("cudaFuncSetAttribute", function,
                   [&](Kernel& kernel) { return set_attribute(kernel, attribute, value); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t function, cudaFuncAttribute attribute,
                                            int value, int device) {
  if (!is_device(device)) return record(cudaErrorInvalidDevice);
  return cudaFuncSetAttribute(function, attribute, value);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return on_kernel("cudaFuncGetAttributes", function, [&](Kernel& kernel) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = attributes_of(kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return on_kernel("cudaFuncGetName", function, [&](Kernel& kernel) {
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = kernel.symbol.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  return on_kernel("cudaFuncGetParamInfo", function, [&](Kernel& kernel) {
    const std::vector<ptx::Variable>& all = kernel.code().function->parameters;
    if (offset == nullptr || index >= all.size()) return cudaErrorInvalidValue;
    *offset = ptx::parameter_places(*kernel.code().function)[index];
    if (bytes != nullptr) *bytes = static_cast<std::size_t>(all[index].bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return on_kernel("cudaFuncSetCacheConfig", function, [](Kernel&) { return cudaSuccess; });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return on_kernel("cudaFuncSetSharedMemConfig", function, [](Kernel&) { return cudaSuccess; });
}

// ---- Occupancy ----

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t dynamic_shared) {
  return on_kernel("cudaOccupancyMaxActiveBlocksPerMultiprocessor", function, [&](Kernel& kernel) {
    if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
    *blocks = resident_blocks(kernel, threads, dynamic_shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t dynamic_shared, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return on_kernel("cudaOccupancyAvailableDynamicSMemPerBlock", function, [&](Kernel& kernel) {
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const int granule = current_gpu().shared_granularity;
    const int static_shared = static_cast<int>(kernel.code().static_shared);
    const int of_block = blocks > 1 ? 1 : static_shared + dynamic_shared_limit(kernel);
    const int share = shared_of_sm(kernel, of_block) / blocks / granule * granule - static_shared;
    *bytes = static_cast<std::size_t>(std::clamp(share, 0, dynamic_shared_limit(kernel)));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* configuration) {
  return on_kernel("cudaOccupancyMaxPotentialClusterSize", function, [&](Kernel& kernel) {
    if (blocks == nullptr || configuration == nullptr) return cudaErrorInvalidValue;
    *blocks = static_cast<int>(most_cluster_blocks(kernel));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* configuration) {
  return on_kernel("cudaOccupancyMaxActiveClusters", function, [&](Kernel& kernel) {
    if (clusters == nullptr || configuration == nullptr) return cudaErrorInvalidValue;
    Launching what{.grid = configuration->gridDim,
                   .block = configuration->blockDim,
                   .dynamic_shared = configuration->dynamicSmemBytes};
    for (unsigned int i = 0; i < configuration->numAttrs; ++i) {
      const cudaError_t error = take_attribute(configuration->attrs[i], what);
      if (error != cudaSuccess) return error;
    }
    const dim3& cluster = what.cluster;
    const unsigned int blocks = std::max(1u, cluster.x * cluster.y * cluster.z);
    const dim3& block = what.block;
    const int threads = static_cast<int>(block.x * block.y * block.z);
    const int resident = resident_blocks(kernel, threads, what.dynamic_shared);
    std::vector<int> groups = current_gpu().sms_of_groups;
    if (groups.empty()) groups = {current_gpu().sms};
    *clusters = 0;
    for (const int sms : groups) *clusters += sms * resident / static_cast<int>(blocks);
    return cudaSuccess;
  });
}

// A function is a kernel's own handle.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t*>(function), symbol);
}

}  // extern "C"

}  // namespace simt::cudart
