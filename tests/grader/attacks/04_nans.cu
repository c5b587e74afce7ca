// Attack: leaves numbers that compare with nothing. Told: nan
#include <cuda_runtime.h>

#include <cmath>

#include "common/exercise/exercise.h"

__global__ void fill(float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = nanf("");
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  fill<<<(n - 1) / 256 + 1, 256>>>(output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
