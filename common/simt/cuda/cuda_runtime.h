// Stands in for NVIDIA's <cuda_runtime.h> in programs built for the simulator: the same names, run
// on the CPU. This folder must not be on the include path of a program built with nvcc.
//
// Ordinary C++ may include it too; then it offers the runtime's functions, but no kernels.
#pragma once
// Headers of other people ask by these guards whether NVIDIA's header is there.
#define __CUDA_RUNTIME_H__

#include <time.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "device_launch_parameters.h"
#include "driver_functions.h"
#include "inline_ptx.h"

// ---- what simcc makes of kernels and launches ----

namespace simt {

// `kernel<<<grid, block, shared, stream>>>(arguments)` becomes
// `(simt::configure(grid, block, shared, stream), kernel(arguments))`.
void configure(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes = 0,
               cudaStream_t stream = nullptr);

// An address in the function that calls this.
void* program_counter();

// What a kernel declares of its launches: the first argument of __launch_bounds__ and those of
// __cluster_dims__; 0 where it does not.
struct launch_bounds {
  unsigned int max_threads = 0;
  unsigned int cluster[3] = {0, 0, 0};
  template <typename X, typename Y = int, typename Z = int>
  constexpr launch_bounds in_clusters(X x, Y y = 1, Z z = 1) const {
    return {max_threads,
            {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)}};
  }
};

// A launch by cudaLaunchKernelEx: the same as configure(), or why it cannot be. launch_error() is then what
// became of it, as far as its launch goes.
cudaError_t configure(const cudaLaunchConfig_t* config);
cudaError_t launch_error();
template <typename... Expected, std::size_t... i>
SIMT_INLINE void call_with(void (*kernel)(Expected...), void** arguments,
                           std::index_sequence<i...>) {
  (void)arguments;  // of a kernel without parameters
  kernel(*static_cast<std::remove_reference_t<Expected>*>(arguments[i])...);
}

// The body `{B}` of a kernel becomes `{ simt::run_kernel([=]() mutable {B}); }`. The closure is
// handed on by address and copied bit by bit, so that no copy of it is counted.
template <typename Body>
SIMT_INLINE void run_kernel(launch_bounds bounds, Body&& body) {
  launch_kernel(
      &body, sizeof(Body), [](void* copy) { (*static_cast<Body*>(copy))(); }, bounds,
      program_counter());
}

template <typename Body>
SIMT_INLINE void run_kernel(Body&& body) {
  launch_kernel(
      &body, sizeof(Body), [](void* copy) { (*static_cast<Body*>(copy))(); }, launch_bounds{},
      program_counter());
}

// Where a static __shared__ array may begin: if it fills 16 bytes, vectors may be read from it; if it fills a
// sector, it begins with one, as other blocks of a cluster read it by sectors.
template <typename Array>
constexpr std::size_t shared_alignment() {
  const std::size_t wanted = sizeof(Array) < 16 ? 1 : sizeof(Array) < 32 ? 16 : 32;
  return alignof(Array) > wanted ? alignof(Array) : wanted;
}

// `extern __shared__ T name[];` outside a function becomes an object of this type.
template <typename T>
struct DynamicShared {
  SIMT_INLINE operator T*() const { return static_cast<T*>(dynamic_shared()); }
  // A cast to another type, as in (int*)name.
  template <typename U>
  SIMT_INLINE explicit operator U*() const {
    return static_cast<U*>(dynamic_shared());
  }
};

}  // namespace simt

// ---- the runtime's functions that take typed pointers, kernels and symbols ----

template <typename T>
SIMT_INLINE cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <typename T>
SIMT_INLINE cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                                        std::size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <typename T>
SIMT_INLINE cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes,
                                          unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <typename T>
SIMT_INLINE cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
SIMT_INLINE cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <typename T>
SIMT_INLINE cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}

template <typename... Expected, typename... Actual>
SIMT_INLINE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                           void (*kernel)(Expected...), Actual&&... arguments) {
  const cudaError_t error = simt::configure(config);
  if (error != cudaSuccess) return error;
  kernel(std::forward<Actual>(arguments)...);
  return simt::launch_error();
}
// `arguments` point at what the parameters of the kernel are to be.
template <typename... Expected>
SIMT_INLINE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                            void (*kernel)(Expected...), void** arguments) {
  const cudaError_t error = simt::configure(config);
  if (error != cudaSuccess) return error;
  simt::call_with(kernel, arguments, std::index_sequence_for<Expected...>());
  return simt::launch_error();
}
template <typename... Arguments>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, Arguments&&...) {
  static_assert(
      sizeof...(Arguments) > 999,
      "cudaLaunchKernelExC with the address of a kernel is outside the simulator's subset: it "
      "has lost the types of the parameters, so give it the kernel itself, or call "
      "cudaLaunchKernelEx");
  return cudaErrorNotSupported;
}

// Managed memory is always where it is needed. CUDA 12 names a device, CUDA 13 a location.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);

namespace simt {

// `symbol` is the address of a __device__ or __constant__ variable of `size` bytes.
cudaError_t copy_to_symbol(const void* symbol, std::size_t size, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t size, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind);
cudaError_t symbol_address(void** address, const void* symbol);

}  // namespace simt

template <typename T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt::copy_to_symbol(&reinterpret_cast<const char&>(symbol), sizeof(T), from, bytes,
                              offset, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                           std::size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                        std::size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt::copy_from_symbol(to, &reinterpret_cast<const char&>(symbol), sizeof(T), bytes,
                                offset, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                             std::size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <typename T>
inline cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return simt::symbol_address(address, &reinterpret_cast<const char&>(symbol));
}
template <typename Pointer, typename T>
inline cudaError_t cudaGetSymbolAddress(Pointer** address, const T& symbol) {
  return cudaGetSymbolAddress(reinterpret_cast<void**>(address), symbol);
}
template <typename T>
inline cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
  void* address = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&address, symbol);
  if (error == cudaSuccess) *bytes = sizeof(T);
  return error;
}

template <typename Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <typename Kernel>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <typename Kernel>
inline cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <typename Kernel>
inline cudaError_t cudaFuncSetSharedMemConfig(Kernel* kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(kernel), config);
}

template <typename Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel kernel,
                                                                 int block_size,
                                                                 std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), block_size, dynamic_shared_bytes);
}
template <typename Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Kernel kernel, int block_size, std::size_t dynamic_shared_bytes, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size,
                                                       dynamic_shared_bytes);
}

// The largest block that keeps the most threads on a multiprocessor, and the grid that fills the
// device with it. `shared_bytes_of(block_size)` is the dynamic shared memory of a block.
template <typename SharedBytes, typename Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size,
                                                                  int* block_size, Kernel kernel,
                                                                  SharedBytes shared_bytes_of,
                                                                  int block_size_limit = 0) {
  int multiprocessors = 0, warp = 0, limit = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0);
  cudaDeviceGetAttribute(&limit, cudaDevAttrMaxThreadsPerBlock, 0);
  if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
  int most_threads = 0;
  for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    const int size = rounded < limit ? rounded : limit;
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, size, static_cast<std::size_t>(shared_bytes_of(size)));
    if (error != cudaSuccess) return error;
    if (blocks * size > most_threads) {
      most_threads = blocks * size;
      *block_size = size;
      *min_grid_size = blocks * multiprocessors;
    }
  }
  return most_threads > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
template <typename Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size,
                                                      Kernel kernel,
                                                      std::size_t dynamic_shared_bytes = 0,
                                                      int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid_size, block_size, kernel, [=](int) { return dynamic_shared_bytes; },
      block_size_limit);
}
