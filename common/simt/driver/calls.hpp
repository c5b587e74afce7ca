// The driver's functions (cuda.h) in terms of the runtime's own parts: one machine, one memory, one report. What all of them
// do: ask whether cuInit was called and a context is current, and answer in the driver's terms.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstddef>
#include <set>

#include "common/simt/cudart/calls.hpp"

// A context owns what was made while it was current: its end is theirs. All are on the one device.
struct CUctx_st {
  unsigned int flags = 0;
  unsigned long long number = 0;
  int attached = 1;                                // how often; by cuCtxDetach once less
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;  // as asked for: it changes nothing here
  std::set<CUdeviceptr> memory = {};
  std::set<CUmodule> modules = {};
};

namespace simt::driver {

/// Numbers mean the same on both sides, but for those that only the runtime has.
CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }

bool is_initialised();
/// Of this host thread: the last that it made current, or the runtime's where it has used that; null if there is none.
CUcontext current_context();
CUcontext primary_context();

/// What the program's last call to the runtime has answered stays as it was.
class KeptLastError {
 public:
  KeptLastError();
  ~KeptLastError();
  KeptLastError(const KeptLastError&) = delete;
  KeptLastError& operator=(const KeptLastError&) = delete;

 private:
  cudaError_t before_;
};

/// A call that needs cuInit.
template <class Body>
CUresult answer(const char* name, Body body) {
  const std::lock_guard lock(cudart::turn());
  const cudart::OfDriver inside;
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  const KeptLastError kept;
  try {
    return result_of(body());
  } catch (...) {
    return result_of(cudart::error_of_exception(name));
  }
}

/// A call that needs a context as well.
template <class Body>
CUresult in_context(const char* name, Body body) {
  return answer(name, [&]() -> CUresult {
    if (current_context() == nullptr) {
      cudart::explain("no context",
                      "%s: no context is current in this host thread: call cuCtxCreate or "
                      "cuCtxSetCurrent first",
                      name);
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return result_of(body());
  });
}

/// A call on a stream: one of the program's says whose it is, and needs no current context.
template <class Body>
CUresult in_stream(const char* name, CUstream stream, Body body) {
  const bool is_default =
      stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
  return is_default ? in_context(name, body) : answer(name, body);
}

/// Remembers whose it is, or no longer is.
void own_memory(CUdeviceptr address);
void disown_memory(CUdeviceptr address);
/// Whose the memory is that begins there: the runtime's is the primary context's.
CUcontext context_of(CUdeviceptr begin);

inline void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address_in(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace simt::driver
