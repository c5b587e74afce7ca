// Each block of two copies its tile to the other one.
#include <cooperative_groups.h>

#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ __cluster_dims__(2) void exchange(int* out) {
  __shared__ __align__(16) int own[32], others[32];
  __shared__ std::uint64_t barrier;
  const auto cluster = cooperative_groups::this_cluster();
  own[threadIdx.x] = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof others);
  }
  ptx::fence_proxy_async(ptx::space_shared);
  cluster.sync();
  if (threadIdx.x == 0) {
    const unsigned other = cluster.block_rank() ^ 1;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                       cluster.map_shared_rank(others, other), own, sizeof own,
                       cluster.map_shared_rank(&barrier, other));
  }
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, 0)) {
  }
  out[blockIdx.x * 32 + threadIdx.x] = others[threadIdx.x];
  cluster.sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  exchange<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
