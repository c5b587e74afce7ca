#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) pass(int* out, int* global) {
  __shared__ int value;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) value = blockIdx.x;
  global[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&value, 1 - blockIdx.x);
  out[2 + blockIdx.x * 32 + threadIdx.x] = global[(1 - blockIdx.x) * 32 + threadIdx.x];
  cluster.sync();
}

int main() {
  int *out, *global;
  cudaMalloc(&out, 66 * sizeof(int));
  cudaMalloc(&global, 64 * sizeof(int));
  pass<<<2, 32>>>(out, global);
  return cudaDeviceSynchronize();
}
