// An address of shared memory has the rank of its block in the high bits: without them it is the first block's.
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) fill(int* out) {
  __shared__ int tile[32];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x)) & 0xffffff;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(threadIdx.x) : "memory");
  cooperative_groups::this_cluster().sync();
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  fill<<<2, 32>>>(out);
  return cudaDeviceSynchronize() != cudaErrorIllegalInstruction;
}
