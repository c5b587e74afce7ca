// Launches that may begin before the one before them in the stream has ended (LayerCall::overlaps), for kernels that
// run on every GPU. Those before compute capability 9.0 know nothing of it: there each of these does nothing.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/harness/kernel.h"

namespace halo {

// From here on the next launch may begin, where it overlaps.
__device__ inline void let_next_launch_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// From here on what the launches before this one wrote is there, and they have read what they read. An input that is
// __restrict__ may be read before, all the same: nvcc takes it that nobody writes it while the kernel runs.
__device__ inline void wait_for_launches_before() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// The launch's attribute, and whether there is one: 1 or 0, for cudaLaunchConfig_t::numAttrs.
inline unsigned overlap_attribute(bool overlaps, cudaLaunchAttribute& attribute) {
  attribute = {};
  int device = 0, major = 0;
  if (!overlaps || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) {
    return 0;
  }
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return major >= 9 ? 1 : 0;
}

// As kernel<<<grid, threads, bytes, stream>>>(given...), but where `overlaps` it may begin before the launch before it
// in the stream has ended, and waits for it itself.
template <class... Expected, class... Given>
cudaError_t launch_overlapping(bool overlaps, void (*kernel)(Expected...), dim3 grid, dim3 threads,
                               std::size_t bytes, cudaStream_t stream, Given... given) {
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap_attribute(overlaps, attribute);
  return cudaLaunchKernelEx(&config, kernel, given...);
}

}  // namespace halo
