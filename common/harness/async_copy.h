// Copies to shared memory that are under way while a block computes.
#pragma once

#include <cuda_pipeline.h>

namespace halo {

// As __pipeline_memcpy_async(to, from, kBytes), but zeros where nothing `exists`: `from` is not read there. Its own way to
// say so, a last argument that differs between lanes, becomes a branch with a copy on each side: a warp at an edge asks twice.
// Here the number of bytes that are read is an operand of the one instruction, which the header does not offer.
template <int kBytes>
__device__ __forceinline__ void copy_or_zero_async(void* to, const void* from, bool exists) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int read = exists ? kBytes : 0;
  if constexpr (kBytes == 16) {  // past the L1 cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(read)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from),
                 "n"(kBytes), "r"(read)
                 : "memory");
  }
#else
  __pipeline_memcpy_async(to, from, kBytes, exists ? 0 : kBytes);
#endif
}

}  // namespace halo
