// Is there an NVIDIA GPU here? Asks the driver itself, so it needs no CUDA to be built.
#pragma once

#include <string>

namespace halo {

struct Gpu {
  bool found = false;
  std::string name;    // of the first one
  std::string driver;  // as in "580.95 (CUDA 13.0)"; empty if there is no driver
  std::string reason;  // why none was found
};

Gpu find_gpu();

/// Why a GPU that is here is not used.
inline constexpr const char* kNoGpuPrograms =
    "no GPU programs are built: nvcc was not found when the build was set up (./halo doctor)";

}  // namespace halo
