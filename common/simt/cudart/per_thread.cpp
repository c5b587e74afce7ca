// The functions as programs call them that were compiled with --default-stream per-thread: for them the stream 0 is
// the host thread's own.
#include <cuda_runtime_api.h>

// Old copies of arrays are there for those who still call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <cstddef>

namespace simt::cudart {
namespace {

cudaStream_t of_thread(cudaStream_t stream) {
  return stream != nullptr ? stream : cudaStreamPerThread;
}

}  // namespace

extern "C" {

#define SIMT_PER_THREAD(name, its, parameters, arguments) \
  cudaError_t name parameters { return its arguments; }
#define SIMT_REFUSED(name)
#include "common/simt/cudart/runtime_declared.inc"
#undef SIMT_REFUSED
#undef SIMT_PER_THREAD

}  // extern "C"

}  // namespace simt::cudart
