// The kernel's attributes are asked for and set before it is launched; pending errors are looked at.
#include <cstdio>

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  cudaFuncAttributes is = {};
  int resident = 0;
  if (cudaFuncGetAttributes(&is, kernel) != cudaSuccess) return;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(65536 - is.sharedSizeBytes));
  cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferShared);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel,
                                                static_cast<int>(threads.x * threads.y), bytes);
  if (resident == 0) std::fprintf(stderr, "no block of it fits\n");
  kernel<<<blocks, threads, bytes>>>(arguments...);
  if (const cudaError_t error = cudaPeekAtLastError(); error != cudaSuccess)
    std::puts(cudaGetErrorString(error));
}
