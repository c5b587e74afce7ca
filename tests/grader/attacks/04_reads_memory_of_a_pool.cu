// Attack: looks for what an earlier call left in a pool's memory. Told: output[0] is 0
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void copied(const float* left, float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = left[i];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)width;
  float* left = nullptr;
  cudaMallocAsync(&left, n * sizeof(float), 0);
  copied<<<(n - 1) / threads + 1, threads>>>(left, output, n);
  cudaFreeAsync(left, 0);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
