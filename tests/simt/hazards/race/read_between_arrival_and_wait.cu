#include <cooperative_groups.h>

// What is read behind the arrival is not before what others do behind the wait.
__global__ void __cluster_dims__(2) pass(int* out) {
  __shared__ int values[64], first[64];
  auto cluster = cooperative_groups::this_cluster();
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += values[i];
  first[threadIdx.x] = sum;
  cluster.barrier_arrive();
  for (int i = 0; i < 64; ++i) sum += values[i];
  cluster.barrier_wait();
  cluster.map_shared_rank(values, 1 - blockIdx.x)[threadIdx.x] = sum;
  cluster.map_shared_rank(first, 1 - blockIdx.x)[threadIdx.x] = sum;
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x] + first[threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  pass<<<2, 64>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
