// The sum of n numbers: every warp adds up its cells of shared memory, without the barriers that a block
// needs, and its first lane adds the result to the total.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void sum_all(const float* input,  // [n]
                        float* total,        // [1], zero before
                        int n) {
  extern __shared__ float cells[];  // [blockDim.x], a multiple of 32
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32;
  float* mine = cells + threadIdx.x;

  *mine = i < n ? input[i] : 0.0f;
  for (int s = 16; s > 0; s /= 2) {
    if (lane < s) *mine += mine[s];
  }
  if (lane == 0) atomicAdd(total, *mine);
}

static int launch(const float* input, float* output, int n, int threads) {
  cudaMemsetAsync(output, 0, sizeof(float));
  const int blocks = (n + threads - 1) / threads;
  sum_all<<<blocks, threads, threads * sizeof(float)>>>(input, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
