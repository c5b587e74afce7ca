#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) pass(int* out) {
  __shared__ int value[32];
  auto cluster = cooperative_groups::this_cluster();
  value[threadIdx.x] = blockIdx.x;
  cluster.sync();
  out[32 * blockIdx.x + threadIdx.x] = cluster.map_shared_rank(value, 1 - blockIdx.x)[threadIdx.x];
  cluster.sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  pass<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
