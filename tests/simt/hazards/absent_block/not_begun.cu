#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) send() {
  __shared__ int value;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&value, 1 - blockIdx.x) = 1;
  cluster.sync();
}

int main() {
  send<<<2, 32>>>();
  return cudaDeviceSynchronize();
}
