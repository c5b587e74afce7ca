// Stands in for NVIDIA's <cuda_pipeline_primitives.h>: asynchronous copies from global to shared
// memory. Copies between two commits form a batch; a wait completes the calling thread's batches, all
// but the `prior` latest ones, and no other thread's.
#pragma once

#include "cuda_runtime.h"

// `size_and_align` is 4, 8 or 16, the alignment of both sides; the last `zfill` bytes are not read but
// filled with zeros.
SIMT_INLINE void __pipeline_memcpy_async(void* dst_shared, const void* src_global,
                                         std::size_t size_and_align, std::size_t zfill = 0) {
  simt::async_copy(dst_shared, src_global, size_and_align, zfill);
}
SIMT_INLINE void __pipeline_commit() { simt::commit_copies(); }
SIMT_INLINE void __pipeline_wait_prior(std::size_t prior) { simt::wait_for_copies(prior); }

SIMT_OUTSIDE(
    int, __pipeline_arrive_on,
    "its barriers in shared memory wait for no copies, use __pipeline_wait_prior and __syncthreads")
