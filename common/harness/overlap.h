// Launches in clusters, and launches that may begin before the one before them in the stream has ended
// (LayerCall::overlaps). GPUs before compute capability 9.0 know nothing of either: kernels that run there, too, can call
// all the same what makes launches overlap, and it does nothing.
//
// A launch that overlaps begins when all blocks of the one before have ended, or said that it may. Saying so at a kernel's
// begin made most layers of one image slower, and VGG a sixth: blocks that can only wait are placed while others compute,
// two on one SM and none on the next. So kernels say so when their sums are complete, before they hand them on; or when
// all that they read is on its way, where that was measured to be faster: implicit_gemm without clusters, warpgroup,
// windows. Those that know what follows may say it earlier.
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

// As kernel<<<grid, threads, bytes, stream>>>(given...), in clusters of so many blocks (none: dim3(1)); and where
// `overlaps` it may begin before the launch before it in the stream has ended, and waits for it itself. No kernel: dispatch
// knew none.
template <class... Expected, class... Given>
cudaError_t launch_clusters(dim3 cluster, bool overlaps, void (*kernel)(Expected...), dim3 grid,
                            dim3 threads, std::size_t bytes, cudaStream_t stream, Given... given) {
  if (kernel == nullptr) return cudaErrorInvalidConfiguration;
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = overlap_attribute(overlaps, attributes[0]);
  if (cluster.x * cluster.y * cluster.z > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++] = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
  }
  return cudaLaunchKernelEx(&config, kernel, given...);
}

// The same without clusters.
template <class... Expected, class... Given>
cudaError_t launch_overlapping(bool overlaps, void (*kernel)(Expected...), dim3 grid, dim3 threads,
                               std::size_t bytes, cudaStream_t stream, Given... given) {
  return launch_clusters(dim3(1), overlaps, kernel, grid, threads, bytes, stream, given...);
}

}  // namespace halo
