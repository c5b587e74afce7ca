// The errors of a host thread. (Their names and texts: runtime/error_names.cpp.)
#include <cuda_runtime_api.h>

#include "common/simt/cudart/calls.hpp"

namespace simt::cudart {

extern "C" {

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(turn());
  const cudaError_t error = last_error();
  forget_last_error();
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(turn());
  return last_error();
}

}  // extern "C"

}  // namespace simt::cudart
