// What CUDA 13 dropped and textbooks use, in terms of what took its place. simcc includes it before all else.
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
static inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}

// A place was the number of a device, or cudaCpuDeviceId.
static inline cudaMemLocation cuda12_location(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                               cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, count, cuda12_location(device), 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                                        int device) {
  return cudaMemAdvise(pointer, count, advice, cuda12_location(device));
}

// Graphs had edges without data.
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, 0, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, 0, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                            cudaGraphNode_t* to, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, 0, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* all,
                                                       size_t* count) {
  return cudaGraphNodeGetDependencies(node, all, 0, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* all,
                                                         size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, all, 0, count);
}

// Shuffles of the lanes that are there. For the host nvcc still declares them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define SIMT_SHUFFLES(T)                                                                         \
  static __device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {                \
    return __shfl_sync(__activemask(), value, lane, width);                                      \
  }                                                                                              \
  static __device__ __forceinline__ T __shfl_up(T value, unsigned int delta, int width = 32) {   \
    return __shfl_up_sync(__activemask(), value, delta, width);                                  \
  }                                                                                              \
  static __device__ __forceinline__ T __shfl_down(T value, unsigned int delta, int width = 32) { \
    return __shfl_down_sync(__activemask(), value, delta, width);                                \
  }                                                                                              \
  static __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {            \
    return __shfl_xor_sync(__activemask(), value, mask, width);                                  \
  }
SIMT_SHUFFLES(int)
SIMT_SHUFFLES(unsigned int)
SIMT_SHUFFLES(long)
SIMT_SHUFFLES(unsigned long)
SIMT_SHUFFLES(long long)
SIMT_SHUFFLES(unsigned long long)
SIMT_SHUFFLES(float)
SIMT_SHUFFLES(double)
#undef SIMT_SHUFFLES
#endif
#endif
