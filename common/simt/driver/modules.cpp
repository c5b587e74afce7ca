// Modules and libraries of device code, their functions and variables; the linker of PTX.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/cudart/fat_binary.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/driver/calls.hpp"

// Texts that are to become one.
struct CUlinkState_st {
  std::vector<std::string> texts;
  std::string linked;
};

namespace simt::driver {
namespace {

using cudart::Kernel;

cudaLibrary_t library_in(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }

std::string bytes_of(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a compiler would have written into the buffers that the caller gave, and for how long it worked.
void fill_logs(unsigned int count, const CUjit_option* options, void** values,
               const std::string& error) {
  const auto value_of = [&](CUjit_option wanted) -> void** {
    for (unsigned int i = 0; i < count; ++i) {
      if (options[i] == wanted) return &values[i];
    }
    return nullptr;
  };
  const auto write = [&](CUjit_option buffer, CUjit_option size, const std::string& text) {
    void** const where = value_of(buffer);
    void** const bytes = value_of(size);
    if (bytes == nullptr) return;
    const std::size_t room = reinterpret_cast<std::uintptr_t>(*bytes);
    const std::size_t taken = std::min(text.size() + 1, room);
    if (where != nullptr && *where != nullptr && taken > 0) {
      char* const to = static_cast<char*>(*where);
      to[text.copy(to, taken - 1)] = '\0';
    }
    *bytes = reinterpret_cast<void*>(text.empty() ? 0 : taken);
  };
  write(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  write(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
  if (void** const time = value_of(CU_JIT_WALL_TIME)) {
    const float milliseconds = 0;
    std::memcpy(time, &milliseconds, sizeof milliseconds);
  }
}

template <class Load>
CUresult load_module(const char* name, CUmodule* module, unsigned int count,
                     const CUjit_option* options, void** values, Load load) {
  return in_context(name, [&]() -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaLibrary_t library = nullptr;
    const cudaError_t error = load(&library);
    fill_logs(count, options, values, error == cudaSuccess ? "" : cudart::detail_of_last_error());
    if (error != cudaSuccess) return result_of(error);
    *module = reinterpret_cast<CUmodule>(library);
    current_context()->modules.insert(*module);
    return CUDA_SUCCESS;
  });
}

CUresult load_image(const char* name, CUmodule* module, const void* image, unsigned int count,
                    const CUjit_option* options, void** values) {
  return load_module(name, module, count, options, values, [&](cudaLibrary_t* library) {
    return cudaLibraryLoadData(library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}

// A variable, managed or not.
CUresult variable_of(CUdeviceptr* address, std::size_t* bytes, cudaLibrary_t library,
                     const char* name) {
  void* its = nullptr;
  cudaError_t error = cudaLibraryGetGlobal(&its, bytes, library, name);
  if (error == cudaErrorSymbolNotFound) error = cudaLibraryGetManaged(&its, bytes, library, name);
  if (error == cudaSuccess && address != nullptr) *address = address_in(its);
  return result_of(error);
}

CUresult add_to_link(CUlinkState state, CUjitInputType type, const void* data, std::size_t bytes,
                     const std::string& name) {
  if (state == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (type) {
    case CU_JIT_INPUT_PTX: {
      const std::string_view text(static_cast<const char*>(data), bytes);
      state->texts.emplace_back(text.substr(0, text.find('\0')));
      return CUDA_SUCCESS;
    }
    case CU_JIT_INPUT_FATBINARY:
      state->texts.push_back(cudart::ptx_of_image(data));
      return CUDA_SUCCESS;
    case CU_JIT_INPUT_LIBRARY:
      // What device code calls of the runtime is here already.
      if (name.find("cudadevrt") != std::string::npos) return CUDA_SUCCESS;
      [[fallthrough]];
    default:
      cudart::explain("link", "cuLinkAddData: %s is no PTX, which is what runs here: use nvcc -ptx",
                      name.empty() ? "an input" : name.c_str());
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
}

}  // namespace

extern "C" {

// ---- Modules ----

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_image("cuModuleLoadData", module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                            CUjit_option* options, void** values) {
  return load_image("cuModuleLoadDataEx", module, image, count, options, values);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_image("cuModuleLoadFatBinary", module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* name) {
  return load_module("cuModuleLoad", module, 0, nullptr, nullptr, [&](cudaLibrary_t* library) {
    return cudaLibraryLoadFromFile(library, name, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return answer("cuModuleUnload", [&] {
    current_context()->modules.erase(module);
    return cudaLibraryUnload(library_in(module));
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return answer("cuModuleGetLoadingMode", [&] {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return answer("cuModuleGetFunction", [&] {
    const cudaError_t error =
        cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function), library_in(module), name);
    if (error == cudaSuccess) cudart::load(*cudart::find_kernel(*function), "cuModuleGetFunction");
    return error;
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  return answer("cuModuleGetFunctionCount",
                [&] { return cudaLibraryGetKernelCount(count, library_in(module)); });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int most, CUmodule module) {
  return answer("cuModuleEnumerateFunctions", [&] {
    return cudaLibraryEnumerateKernels(reinterpret_cast<cudaKernel_t*>(functions), most,
                                       library_in(module));
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  return answer("cuModuleGetGlobal",
                [&] { return variable_of(address, bytes, library_in(module), name); });
}

// ---- Libraries, which are of no context ----

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned int count, CUlibraryOption*, void**,
                           unsigned int) {
  return answer("cuLibraryLoadData", [&] {
    const cudaError_t error =
        cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
    fill_logs(count, options, values, error == cudaSuccess ? "" : cudart::detail_of_last_error());
    return error;
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* name, CUjit_option*, void**,
                               unsigned int, CUlibraryOption*, void**, unsigned int) {
  return answer("cuLibraryLoadFromFile", [&] {
    return cudaLibraryLoadFromFile(library, name, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return answer("cuLibraryUnload", [&] { return cudaLibraryUnload(library); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return answer("cuLibraryGetKernel", [&] { return cudaLibraryGetKernel(kernel, library, name); });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return answer("cuLibraryGetKernelCount",
                [&] { return cudaLibraryGetKernelCount(count, library); });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int most, CUlibrary library) {
  return answer("cuLibraryEnumerateKernels",
                [&] { return cudaLibraryEnumerateKernels(kernels, most, library); });
}

// A library is its only module.
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return answer("cuLibraryGetModule", [&] {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = reinterpret_cast<CUmodule>(library);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return answer("cuLibraryGetGlobal", [&] { return variable_of(address, bytes, library, name); });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return answer("cuLibraryGetManaged", [&] { return variable_of(address, bytes, library, name); });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return answer("cuKernelGetFunction", [&] {
    Kernel* const its = cudart::find_kernel(kernel);
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = reinterpret_cast<CUfunction>(kernel);
    if (its != nullptr) cudart::load(*its, "cuKernelGetFunction");
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return answer("cuKernelGetName", [&] { return cudaFuncGetName(name, kernel); });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return answer("cuFuncGetName", [&] { return cudaFuncGetName(name, function); });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return answer("cuFuncGetModule", [&] {
    const Kernel* const kernel = cudart::find_kernel(function);
    if (module == nullptr || kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = reinterpret_cast<CUmodule>(kernel->module);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return cuFuncGetModule(reinterpret_cast<CUmodule*>(library),
                         reinterpret_cast<CUfunction>(kernel));
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return answer("cuFuncGetParamInfo",
                [&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  return answer("cuKernelGetParamInfo",
                [&] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}

// ---- The linker: PTX of several units becomes one text ----

CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values,
                      CUlinkState* state) {
  return in_context("cuLinkCreate", [&] {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    fill_logs(count, options, values, "");
    *state = new CUlinkState_st;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char* name, unsigned int, CUjit_option*, void**) {
  return answer("cuLinkAddData",
                [&] { return add_to_link(state, type, data, bytes, name != nullptr ? name : ""); });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* name, unsigned int,
                       CUjit_option*, void**) {
  return answer("cuLinkAddFile", [&]() -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!std::ifstream(name)) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::string bytes = bytes_of(name);
    return add_to_link(state, type, bytes.c_str(), bytes.size(), name);
  });
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  return answer("cuLinkComplete", [&] {
    if (state == nullptr || image == nullptr || state->texts.empty()) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    state->linked = cudart::joined(state->texts);
    *image = state->linked.data();
    if (bytes != nullptr) *bytes = state->linked.size() + 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return answer("cuLinkDestroy", [&] {
    delete state;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace simt::driver
