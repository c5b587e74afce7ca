#include <cuda_pipeline.h>

__global__ void copy(const int* in, int* out) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int i = 0; i < 4; ++i) {
    if (i < 3) __pipeline_memcpy_async(&tile[1 - i % 2][t], &in[64 * (i + 1) + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[64 * i + t] = tile[i % 2][t ^ 1];
    __syncthreads();
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  copy<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize();
}
