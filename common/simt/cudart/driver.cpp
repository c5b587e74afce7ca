// The way from the runtime to the driver's functions, which are in a library of their own: few programs ask for them.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/installation.hpp"

namespace simt::cudart {
namespace {

// Null if it was not built.
void* driver() {
  static void* const its = [] {
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&driver), &own);
    const auto folder = std::filesystem::canonical(own.dli_fname).parent_path();
    return dlopen((libraries_folder(folder) / kDriver).c_str(), RTLD_NOW);
  }();
  return its;
}

cudaError_t find_driver_entry(const char* symbol, void** function, unsigned int version,
                              cudaDriverEntryPointQueryResult* status) {
  return query("cudaGetDriverEntryPoint", [&] {
    if (driver() == nullptr) {
      explain("no driver", "%s is not there (./halo toolkit builds it)", kDriver);
      return cudaErrorInsufficientDriver;
    }
    reinterpret_cast<decltype(&cuInit)>(dlsym(driver(), "cuInit"))(0);
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result = reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(
        driver(), "cuGetProcAddress_v2"))(symbol, function, static_cast<int>(version), 0, &found);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
    return static_cast<cudaError_t>(result);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned int version, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, version, status);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, CUDART_VERSION, status);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                  unsigned int version, unsigned long long,
                                                  cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, version, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long,
                                         cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, CUDART_VERSION, status);
}

}  // extern "C"

}  // namespace simt::cudart
