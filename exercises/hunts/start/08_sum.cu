// The sum of n numbers: each block adds up its own in shared memory, then adds that to the total.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void sum_all(const float* input,  // [n]
                        float* total,        // [1], zero before
                        int n) {
  extern __shared__ float parts[];  // [blockDim.x], a power of two

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  parts[threadIdx.x] = i < n ? input[i] : 0.0f;
  __syncthreads();

  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] += parts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total += parts[0];
}

static int launch(const float* input, float* output, int n, int threads) {
  cudaMemsetAsync(output, 0, sizeof(float));
  const int blocks = (n + threads - 1) / threads;
  sum_all<<<blocks, threads, threads * sizeof(float)>>>(input, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
