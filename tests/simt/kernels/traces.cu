// Kernels whose lanes can be told by hand: trace_test.py.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__constant__ float factors[4];
__device__ float variable[8];

// Two blocks of 40 threads: the second warp has 8 lanes. Of 80 cells the last 16 have no thread.
__global__ void shifted(const float* input, float* output) {
  __shared__ volatile float before[3];  // whoever optimises leaves it there
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 40 + t;
  if (t < 3) before[t] = 0;
  tile[t] = input[i + 1];  // LINE shifted
  __syncthreads();
  if (t % 2 == 0) output[i] = tile[39 - t];  // LINE reversed
}

// Each thread its own way: block 1 has the column, and its second warp the widest.
__global__ void strides(const float* input, float* output) {
  const int t = threadIdx.x;
  const int step = blockIdx.x == 1 ? (t < 32 ? 2 : 8) : 1;
  float sum = variable[t / 32];  // LINE variable
#pragma unroll 1
  for (int j = 0; j < 20; ++j) {
    sum += input[t * step + j];  // LINE loop
  }
  sum += factors[t % 4];  // LINE constant
  output[blockIdx.x * 64 + t] = sum;
}

__global__ void others(float* output, const float4* quads) {
  extern __shared__ float4 fours[];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&fours[t], &quads[t], 16);  // LINE copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  atomicAdd(&output[t / 16], fours[31 - t].x);  // LINE atomic
}

int main() {
  float *input, *output;
  cudaMalloc(&input, 1024 * sizeof(float));
  cudaMalloc(&output, 256 * sizeof(float));
  cudaMemset(input, 0, 1024 * sizeof(float));
  cudaMemset(output, 0, 256 * sizeof(float));
  const float four[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(factors, four, sizeof(four));
  for (int again = 0; again < 2; ++again) {
    shifted<<<2, 40>>>(input, output);
    strides<<<3, 64>>>(input, output);
    others<<<1, 32, 32 * sizeof(float4)>>>(output, reinterpret_cast<const float4*>(input));
  }
  cudaFree(input);
  cudaFree(output);
  return cudaDeviceSynchronize();
}
