// Libraries of device code that a program loads while it runs: PTX as text, or what fatbinary and nvcc -fatbin make of it.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/fat_binary.hpp"
#include "common/simt/cudart/module.hpp"

namespace simt::cudart {
namespace {

// Null if it was not loaded, or is no more.
Module* module_of(cudaLibrary_t library) {
  const std::vector<Module*> all = all_modules();
  const auto found = std::find(all.begin(), all.end(), reinterpret_cast<Module*>(library));
  return found != all.end() ? *found : nullptr;
}

cudaError_t on_library(const char* name, cudaLibrary_t library, Body<cudaError_t(Module&)> body) {
  return call(name, [&]() -> cudaError_t {
    Module* const module = module_of(library);
    return module != nullptr ? body(*module) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t load(cudaLibrary_t* library, const std::string& ptx) {
  *library = reinterpret_cast<cudaLibrary_t>(&add_module(ptx, false));
  return cudaSuccess;
}

cudaError_t variable(const char* call, void** address, std::size_t* bytes, cudaLibrary_t library,
                     const char* name, bool is_managed) {
  return on_library(call, library, [&](Module& module) {
    if (name == nullptr) return cudaErrorInvalidValue;
    const ptx::Variable* const its = module.ptx().variable(name);
    if (its == nullptr || (is_managed && !its->is_managed) || module.address_of(name) == 0) {
      return cudaErrorSymbolNotFound;
    }
    if (address != nullptr) *address = reinterpret_cast<void*>(module.address_of(name));
    if (bytes != nullptr) *bytes = static_cast<std::size_t>(its->bytes);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

// Options say how a compiler of PTX should do its work.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned int, cudaLibraryOption*, void**, unsigned int) {
  return call("cudaLibraryLoadData", [&] {
    if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
    return load(library, ptx_of_image(code));
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*,
                                    void**, unsigned int, cudaLibraryOption*, void**,
                                    unsigned int) {
  return call("cudaLibraryLoadFromFile", [&] {
    if (library == nullptr || name == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(name, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    // With the zero that ends a text.
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    return load(library, ptx_of_image(image.c_str()));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return on_library("cudaLibraryUnload", library, [](Module& module) {
    remove_module(module);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return on_library("cudaLibraryGetKernelCount", library, [&](Module& module) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned int>(kernels_of(module).size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int most,
                                        cudaLibrary_t library) {
  return on_library("cudaLibraryEnumerateKernels", library, [&](Module& module) {
    if (kernels == nullptr) return cudaErrorInvalidValue;
    for (Kernel* const one : kernels_of(module)) {
      if (most-- == 0) break;
      *kernels++ = reinterpret_cast<cudaKernel_t>(one);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return on_library("cudaLibraryGetKernel", library, [&](Module& module) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    for (Kernel* const one : kernels_of(module)) {
      if (one->symbol != name) continue;
      *kernel = reinterpret_cast<cudaKernel_t>(one);
      return cudaSuccess;
    }
    return cudaErrorSymbolNotFound;
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return variable("cudaLibraryGetGlobal", address, bytes, library, name, false);
}

cudaError_t cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return variable("cudaLibraryGetManaged", address, bytes, library, name, true);
}

}  // extern "C"

}  // namespace simt::cudart
