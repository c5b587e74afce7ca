// What code that nvcc made calls before main(), and around each <<<>>>. (crt/host_runtime.h declares these; it is
// nvcc's own to include.)
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/cudart/module.hpp"

namespace simt::cudart {
namespace {

// Launches that wait for their kernel to be called. A stack: the arguments of a launch may launch kernels themselves.
struct Configuration {
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

// A program that names NVIDIA's library as well (CMake's CUDA::cudart does) would call either of the two.
[[gnu::constructor]] void refuse_another_library() {
  const auto visit = [](dl_phdr_info* info, std::size_t, void* own) {
    const std::string_view name = info->dlpi_name;
    if (name.find("/libcudart.so") == std::string_view::npos) return 0;
    Dl_info its{};
    if (dladdr(own, &its) == 0 || name == its.dli_fname) return 0;
    std::fprintf(stderr,
                 "simt: the program is linked with %s too: start it with `simt run PROGRAM`\n",
                 info->dlpi_name);
    std::_Exit(2);
  };
  dl_iterate_phdr(visit, reinterpret_cast<void*>(&refuse_another_library));
}

// What runs on a GPU only fails with a status, which says nothing of the simulator.
[[gnu::constructor]] void name_libraries_of_gpus() {
  const auto visit = [](dl_phdr_info* info, std::size_t, void*) {
    const std::string_view path = info->dlpi_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const char* const one :
         {"libcudnn", "libcufft", "libcusolver", "libcusparse", "libnccl", "libnpp", "libnvjpeg"}) {
      if (!name.starts_with(one)) continue;
      std::fprintf(stderr,
                   "simt: the program is linked with %.*s, which the simulator has not got: what "
                   "it calls there fails\n",
                   static_cast<int>(name.size()), name.data());
      break;
    }
    return 0;
  };
  dl_iterate_phdr(visit, nullptr);
}

Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }

}  // namespace

extern "C" {

// ---- Modules, kernels, variables ----

void** __cudaRegisterFatBinary(void* wrapper) {
  const std::lock_guard lock(turn());
  return reinterpret_cast<void**>(&add_module(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  const std::lock_guard lock(turn());
  remove_module(module_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* symbol,
                            int, uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard lock(turn());
  add_kernel(host_function, module_of(handle), symbol);
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* symbol, int,
                       std::size_t bytes, int is_constant, int) {
  const std::lock_guard lock(turn());
  add_symbol(shadow, {.module = &module_of(handle),
                      .symbol = symbol,
                      .name = ptx::demangled(symbol),
                      .bytes = bytes,
                      .is_constant = is_constant != 0});
}

void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* symbol, int,
                              std::size_t bytes, int, int) {
  const std::lock_guard lock(turn());
  add_symbol(pointer, {.module = &module_of(handle),
                       .symbol = symbol,
                       .name = ptx::demangled(symbol),
                       .bytes = bytes,
                       .managed = pointer});
}

// Before host code touches a managed variable.
char __cudaInitModule(void** handle) {
  return query("__cudaInitModule", [&] {
           open_managed_variables(module_of(handle));
           return cudaSuccess;
         }) == cudaSuccess;
}

// Of __device__ variables that the host could reach on a system whose memory is one: there is none here.
void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

void __cudaRegisterUnifiedTable(void**, void*) {}

// ---- Launches ----

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t dynamic_shared,
                                         cudaStream_t stream) {
  configurations.push_back({grid, block, dynamic_shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* dynamic_shared,
                                       void* stream) {
  if (configurations.empty()) return record(cudaErrorMissingConfiguration);
  const Configuration its = configurations.back();
  configurations.pop_back();
  *grid = its.grid;
  *block = its.block;
  *dynamic_shared = its.dynamic_shared;
  *static_cast<cudaStream_t*>(stream) = its.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* function) {
  const std::lock_guard lock(turn());
  *handle = reinterpret_cast<cudaKernel_t>(find_kernel(function));
  return *handle != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return query("cudaGetKernel", [&] {
    return handle != nullptr ? __cudaGetKernel(handle, function) : cudaErrorInvalidValue;
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t dynamic_shared, cudaStream_t stream) {
  return launch(kernel, {.grid = grid,
                         .block = block,
                         .dynamic_shared = dynamic_shared,
                         .stream = stream,
                         .arguments = arguments});
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t dynamic_shared, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared,
                            stream != nullptr ? stream : cudaStreamPerThread);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared, cudaStream_t stream) {
  return launch(function, {.grid = grid,
                           .block = block,
                           .dynamic_shared = dynamic_shared,
                           .stream = stream,
                           .arguments = arguments});
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t dynamic_shared,
                                        cudaStream_t stream) {
  return launch(function, {.grid = grid,
                           .block = block,
                           .dynamic_shared = dynamic_shared,
                           .stream = stream,
                           .arguments = arguments,
                           .is_cooperative = true});
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function,
                                void** arguments) {
  if (configuration == nullptr) return record(cudaErrorInvalidValue);
  Launching what{.grid = configuration->gridDim,
                 .block = configuration->blockDim,
                 .dynamic_shared = configuration->dynamicSmemBytes,
                 .stream = configuration->stream,
                 .arguments = arguments};
  for (unsigned int i = 0; i < configuration->numAttrs; ++i) {
    const cudaError_t error = take_attribute(configuration->attrs[i], what);
    if (error != cudaSuccess) return record(error);
  }
  return launch(function, what);
}

}  // extern "C"

}  // namespace simt::cudart
