// Prefix sums: output i is the sum of inputs 0 .. i. One block goes through the numbers, as many at a time as it
// has threads; in each step a thread adds what lies 1, 2, 4, ... cells to its left.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void prefix_sums(const float* input,  // [n]
                            float* output,       // [n]
                            int n) {
  extern __shared__ float sums[];  // [blockDim.x]
  float before = 0.0f;             // all numbers of the turns before
  for (int first = 0; first < n; first += blockDim.x) {
    const int i = first + threadIdx.x;
    sums[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
      const float left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0.0f;
      __syncthreads();
      sums[threadIdx.x] += left;
      __syncthreads();
    }
    if (i < n) output[i] = before + sums[threadIdx.x];
    before += sums[blockDim.x - 1];
    __syncthreads();
  }
}

static int launch(const float* input, float* output, int n, int threads) {
  prefix_sums<<<1, threads, threads * sizeof(float)>>>(input, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
