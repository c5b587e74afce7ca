// How a block of a cluster knows that all others have sent their sums to its (distributed) shared memory.
#pragma once

#include <cooperative_groups.h>

#include <cuda/ptx>

namespace halo::convolve {

namespace ptx = cuda::ptx;

// By one thread, once: a barrier in shared memory that will be passed when so many bytes have been sent to it. The others
// may send when all blocks have arrived at the cluster's next barrier.
__device__ inline void expect(std::uint64_t* full, int bytes) {
  ptx::mbarrier_init(full, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
}

// By all threads that read what was sent.
__device__ inline void wait_for_all(std::uint64_t* full) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, full, 0)) {
  }
}

}  // namespace halo::convolve
