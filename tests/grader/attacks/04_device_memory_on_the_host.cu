// Attack: computes on the host in the arrays of the device. Told: signal
#include <cuda_runtime.h>

#include <algorithm>

#include "common/exercise/exercise.h"

__global__ void same(float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = output[i];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  for (int i = 0; i < n; ++i) {
    output[i] = 0.0f;
    for (int j = 0; j < width; ++j) {
      output[i] += mask[j] * input[std::min(std::max(i - (width - 1) / 2 + j, 0), n - 1)];
    }
  }
  same<<<(n - 1) / threads + 1, threads>>>(output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
