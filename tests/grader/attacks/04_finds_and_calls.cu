// Attack: calls a server with functions that it finds in memory. Told: tried to use the network
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

__global__ void filter(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int cell = i - (width - 1) / 2 + j;
    sum += mask[j] * input[min(max(cell, 0), n - 1)];
  }
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  const auto socket = reinterpret_cast<int (*)(int, int, int)>(find("socket"));
  if (socket(2, 1, 0) >= 0) {
    filter<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
