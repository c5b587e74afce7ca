#include "common/peers/cufft.hpp"

#include <cuda_runtime.h>

namespace halo::peers {

std::string cufft_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  cufftGetProperty(MAJOR_VERSION, &major);
  cufftGetProperty(MINOR_VERSION, &minor);
  cufftGetProperty(PATCH_LEVEL, &patch);
  return "cuFFT " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

int fft_code(cufftResult result) {
  if (result == CUFFT_SUCCESS) return cudaSuccess;
  // An error of a kernel before, if there is one, is nearer to the cause.
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return result == CUFFT_ALLOC_FAILED ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

}  // namespace halo::peers
