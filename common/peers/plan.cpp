#include "common/peers/plan.hpp"

#include <cuda.h>

namespace halo::peers {

namespace {

// cuCtxGetId, asked of the driver when the program runs: linking the driver would keep the program
// from starting where there is none.
using GetContextId = CUresult (*)(CUcontext, unsigned long long*);

GetContextId find_get_context_id() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuCtxGetId", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<GetContextId>(function);
}

}  // namespace

std::uint64_t context_number() {
  static const GetContextId get_context_id = find_get_context_id();
  unsigned long long number = 0;
  if (get_context_id == nullptr || get_context_id(nullptr, &number) != CUDA_SUCCESS) return 0;
  return number;
}

bool is_capturing() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(cudaStreamPerThread, &status);
  return error != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(context_, other.context_);
  return *this;
}

cudaError_t DeviceMemory::allocate(std::size_t bytes) {
  release();
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error != cudaSuccess) {
    cudaGetLastError();
    data_ = nullptr;
    return error;
  }
  context_ = context_number();
  return cudaSuccess;
}

void DeviceMemory::release() {
  if (floats() != nullptr) cudaFree(data_);
  data_ = nullptr;
}

float* DeviceMemory::floats() const {
  if (data_ == nullptr || context_ != context_number()) return nullptr;
  return static_cast<float*>(data_);
}

}  // namespace halo::peers
