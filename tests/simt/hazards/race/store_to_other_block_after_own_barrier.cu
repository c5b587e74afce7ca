#include <cooperative_groups.h>

// The block that has read meets at its own barrier; the other one does not wait for that.
__global__ void __cluster_dims__(2) pass(int* out) {
  __shared__ int values[64];
  auto cluster = cooperative_groups::this_cluster();
  values[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += values[i];
  __syncthreads();
  cluster.map_shared_rank(values, 1 - blockIdx.x)[threadIdx.x] = sum;
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  pass<<<2, 64>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
