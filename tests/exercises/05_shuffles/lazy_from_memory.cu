// Lazy. Fails: a warp reads its cells once, and its halo once
// A load a tap.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float taps[33];

__global__ void from_memory(const float* input, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += input[((i - width / 2 + j) % n + n) % n] * taps[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  from_memory<<<(n - 1) / threads + 1, threads>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
