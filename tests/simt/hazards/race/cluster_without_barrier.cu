// A __syncthreads() orders one block only.
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) pass(int* out) {
  __shared__ int value;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) value = 0;
  cluster.sync();
  if (threadIdx.x == 0) value = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&value, 1 - blockIdx.x);
  cluster.sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 2 * sizeof(int));
  pass<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
