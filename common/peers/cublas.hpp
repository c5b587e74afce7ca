// What the peers of cuBLAS share. Private to the peers.
//
// True fp32: NVIDIA_TF32_OVERRIDE=0 is set before the library starts, and the math mode is
// CUBLAS_DEFAULT_MATH, which is read back: it computes in at least the type that is asked for.
// (CUBLAS_PEDANTIC_MATH does too, but its documentation names it a mode for studies and debugging that
// may be slower: that would not be fair to cuBLAS.)
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/peers/plan.hpp"

namespace halo::peers {

/// "13.1.0".
std::string cublas_version();

/// The error code of a launch.
int code_of(cublasStatus_t status);

/// The opened library, on the thread's default stream, with its workspace.
class CublasHandle {
 public:
  CublasHandle() = default;
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  /// Opens it for the CUDA context in use, unless that was done before. Returns a CUDA error code;
  /// cudaErrorNotSupported if cuBLAS can't be started in true fp32: problem() then says why.
  int open();
  cublasHandle_t get() const { return handle_; }
  /// Empty after an open that succeeded.
  const std::string& problem() const { return problem_; }

 private:
  cublasHandle_t handle_ = nullptr;
  std::uint64_t context_ = 0;
  DeviceMemory workspace_;
  std::string problem_;
};

/// One for all peers that live at the same time.
std::shared_ptr<CublasHandle> shared_cublas();

}  // namespace halo::peers
