// Lazy. Fails: whole sectors on both sides: hardly more than 8 bytes per output
// No tile: the kernel leaves the order as it is, and copies, an image each, turn it.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void with_bias(const float* input, const float* bias, float* between, int N, int cells,
                          int plane) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * cells) between[i] = fmaxf(input[i] + bias[i / N / plane], 0.0f);
}

static int launch(const float* input, const float* bias, float* output, int N, int C, int H,
                  int W) {
  const int cells = C * H * W;
  float* between = nullptr;
  cudaMalloc(&between, N * cells * sizeof(float));
  with_bias<<<(N * cells - 1) / 256 + 1, 256>>>(input, bias, between, N, cells, H * W);
  for (int n = 0; n < N; ++n) {
    cudaMemcpy2D(output + n * cells, sizeof(float), between + n, N * sizeof(float), sizeof(float),
                 cells, cudaMemcpyDeviceToDevice);
  }
  cudaFree(between);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
