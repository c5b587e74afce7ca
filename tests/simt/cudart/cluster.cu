// Blocks of a cluster send each other a word that arrives at a barrier in shared memory, and what a block shares before the
// cluster's barrier it reads behind it. Right: nothing is to be told.
#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "expect.hpp"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__global__ void __cluster_dims__(2) exchange(int* out) {
  __shared__ std::uint64_t arrived;
  __shared__ int sent, own[64];
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = 1 - static_cast<int>(cluster.block_rank());
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   4);
  }
  own[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  if (threadIdx.x == 0) {
    ptx::st_async(cluster.map_shared_rank(&sent, other), 10 + other,
                  cluster.map_shared_rank(&arrived, other));
  }
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &arrived, 0)) {
  }
  out[blockIdx.x * 64 + threadIdx.x] = sent * 100 + own[63 - threadIdx.x];
  cluster.sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  exchange<<<2, 64>>>(out);
  int got[128] = {};
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 128; ++i) wrong += got[i] != (10 + i / 64) * 100 + 63 - i % 64;
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  cudaLaunchAttribute none = {};
  none.id = cudaLaunchAttributeClusterDimension;
  config.attrs = &none;
  config.numAttrs = 1;
  expect_error(cudaLaunchKernelEx(&config, exchange, out), cudaErrorInvalidClusterSize, __LINE__);
  expect(wrong == 0, "each block has the other's word, and its own numbers", __LINE__);
  return verdict();
}
