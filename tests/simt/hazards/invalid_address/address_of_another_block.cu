// A load of the block's own shared memory, by an address in another's.
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) pass(int* out) {
  __shared__ int tile[32];
  auto cluster = cooperative_groups::this_cluster();
  tile[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const auto own = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(1 - blockIdx.x));
  int value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = value;
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  pass<<<2, 32>>>(out);
  return cudaDeviceSynchronize() != cudaErrorIllegalInstruction;
}
