#include <cooperative_groups.h>
#include <cuda_pipeline.h>

__global__ void __cluster_dims__(2) exchange(const int* in, int* out) {
  __shared__ int tile[32];
  const auto cluster = cooperative_groups::this_cluster();
  const int t = threadIdx.x;
  if (cluster.block_rank() == 0) {
    __pipeline_memcpy_async(&tile[t], in + t, sizeof(int));
    __pipeline_commit();
    out[32 + t] = tile[t];
  } else {
    tile[t] = t;
  }
  cluster.sync();
  if (cluster.block_rank() == 1) out[t] = tile[t];
  if (cluster.block_rank() == 0) cluster.map_shared_rank(tile, 1)[t] = -t;
  __pipeline_wait_prior(0);
  cluster.sync();
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  exchange<<<2, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
