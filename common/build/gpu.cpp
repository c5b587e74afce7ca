#include "common/build/gpu.hpp"

#include <dlfcn.h>

#include <array>
#include <fstream>

namespace halo {
namespace {

// From "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  <date>": the first word that
// looks like a version.
std::string kernel_driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

Gpu find_gpu() {
  Gpu gpu;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    gpu.reason = "no NVIDIA driver on this machine";
    return gpu;
  }
  if (dlsym(library, "simt_simulator") != nullptr) {
    gpu.reason = "libcuda.so.1 is the simulator's here: take its folder out of LD_LIBRARY_PATH";
    return gpu;
  }
  // The library stays loaded: unloading a driver that has started threads is not safe.
  const auto init = symbol<int(unsigned)>(library, "cuInit");
  const auto version = symbol<int(int*)>(library, "cuDriverGetVersion");
  const auto count = symbol<int(int*)>(library, "cuDeviceGetCount");
  const auto name = symbol<int(char*, int, int)>(library, "cuDeviceGetName");
  if (!init || !version || !count || !name) {
    gpu.reason = "the NVIDIA driver's libcuda.so.1 is not one we know";
    return gpu;
  }
  gpu.driver = kernel_driver_version();
  int cuda = 0;
  if (version(&cuda) == 0) {
    gpu.driver += (gpu.driver.empty() ? "CUDA " : " (CUDA ") + std::to_string(cuda / 1000) + "." +
                  std::to_string(cuda % 1000 / 10) + (gpu.driver.empty() ? "" : ")");
  }
  if (const int error = init(0); error != 0) {
    constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE
    gpu.reason = error == no_device
                     ? "the NVIDIA driver sees no GPU"
                     : "the NVIDIA driver does not start (error " + std::to_string(error) + ")";
    return gpu;
  }
  int devices = 0;
  std::array<char, 256> text = {};
  if (count(&devices) != 0 || devices == 0) {
    gpu.reason = "the NVIDIA driver sees no GPU";
  } else if (name(text.data(), static_cast<int>(text.size()) - 1, 0) != 0) {
    gpu.reason = "the NVIDIA driver cannot name its GPU";
  } else {
    gpu.found = true;
    gpu.name = text.data();
  }
  return gpu;
}

}  // namespace halo
