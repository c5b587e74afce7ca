// What both have in common that the CUDA runtime makes run: a GPU and the simulator.
#include "common/harness/backend/cuda.hpp"

#include <stdexcept>

namespace halo {

void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

std::string CudaBackend::unavailable() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    cudaGetLastError();  // not to be found again after a launch
    return std::string("no GPU: ") + cudaGetErrorString(error);
  }
  if (devices == 0) return "no GPU: the driver lists none";
  // A device may be listed and still be unusable (another user's exclusive mode, a driver too old); in the simulator, for want
  // of addresses.
  void* memory = nullptr;
  cudaError_t first_use = cudaMalloc(&memory, 4);
  if (first_use == cudaSuccess) first_use = cudaFree(memory);
  if (first_use != cudaSuccess) {
    cudaGetLastError();
    const std::string detail = error_detail();
    return "no usable GPU: " + (detail.empty() ? cudaGetErrorString(first_use) : detail);
  }
  return {};
}

void* CudaBackend::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw std::runtime_error("not enough device memory for " + std::to_string(bytes) +
                             " bytes: choose a smaller problem");
  }
  require(error, "cudaMalloc failed");
  return memory;
}

void CudaBackend::release(void* memory) noexcept {
  // After recover() it is gone already: that must not be found again after the next launch.
  if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

void CudaBackend::copy_in(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "a copy to the device failed");
}

void CudaBackend::copy_out(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "a copy from the device failed");
}

Observation CudaBackend::run(const std::function<int()>& launch) {
  Observation seen;
  begin_observation();
  const auto launched = static_cast<cudaError_t>(launch());
  after_launch(seen);
  const cudaError_t finished = cudaDeviceSynchronize();
  if (launched != cudaSuccess) {
    seen.unsupported = launched == cudaErrorNotSupported;
    seen.error = std::string("the launch failed: ") + cudaGetErrorString(launched);
  } else if (finished != cudaSuccess) {
    seen.error = std::string("the kernel failed: ") + cudaGetErrorString(finished);
  }
  if (!seen.error.empty()) {
    if (const std::string detail = error_detail(); !detail.empty()) seen.error += ": " + detail;
  }
  end_observation(seen);
  return seen;
}

bool CudaBackend::recover() {
  cudaDeviceReset();
  cudaGetLastError();
  void* memory = nullptr;
  if (cudaMalloc(&memory, 4) != cudaSuccess) return false;
  return cudaFree(memory) == cudaSuccess;
}

}  // namespace halo
