#include <cuda_pipeline.h>

__global__ void copy(const int* in, int* out) {
  __shared__ int tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
  __pipeline_wait_prior(0);
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  copy<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
