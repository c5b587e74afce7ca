#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_at(const void* its) {
  return static_cast<unsigned>(__cvta_generic_to_shared(its));
}

// Both blocks add to the first one's sums, whose barrier says when all has come.
__global__ void __cluster_dims__(2) add(unsigned* out) {
  __shared__ unsigned sums[32];
  __shared__ unsigned long long barrier;
  const cg::cluster_group cluster = cg::this_cluster();
  sums[threadIdx.x] = 5;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_at(&barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (cluster.block_rank() == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&barrier))
                   : "memory");
    }
  }
  cluster.sync();
  unsigned to, arrives;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(shared_at(&sums[threadIdx.x])));
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(arrives) : "r"(shared_at(&barrier)));
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
      "[%2];" ::"r"(to),
      "r"(threadIdx.x), "r"(arrives)
      : "memory");
  if (cluster.block_rank() == 0) {
    unsigned is_over = 0;
    while (is_over == 0) {
      asm volatile(
          "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(is_over)
          : "r"(shared_at(&barrier))
          : "memory");
    }
    out[threadIdx.x] = sums[threadIdx.x];
  }
  cluster.sync();
}

int main() {
  unsigned *out, got[32];
  cudaMalloc(&out, sizeof got);
  add<<<2, 32>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (unsigned i = 0; i < 32; ++i) wrong += got[i] != 5 + 2 * i;
  return cudaDeviceSynchronize() != cudaSuccess || wrong != 0;
}
