#include <cooperative_groups.h>

// Blocks of one cluster wait for each other before they overwrite what they have read; another cluster has read it, too.
__global__ void __cluster_dims__(2) pass(int* values, int* out) {
  auto cluster = cooperative_groups::this_cluster();
  out[blockIdx.x * 32 + threadIdx.x] = values[threadIdx.x];
  cluster.sync();
  if (blockIdx.x == 3) values[threadIdx.x] = 0;
}

int main() {
  int *values, *out;
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMemset(values, 0, 32 * sizeof(int));
  pass<<<4, 32>>>(values, out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
