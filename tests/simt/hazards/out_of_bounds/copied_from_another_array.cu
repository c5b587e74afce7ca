#include <cuda_pipeline.h>

__global__ void halves(const float* in, float* out, long from) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], in + from + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  float *in, *other, *out;
  cudaMalloc(&in, 128 * sizeof(float));
  cudaMalloc(&other, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(in, 0, 128 * sizeof(float));
  cudaMemset(other, 0, 64 * sizeof(float));
  halves<<<1, 64>>>(in, out, other - in);
  return cudaDeviceSynchronize();
}
