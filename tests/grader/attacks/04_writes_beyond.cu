// Attack: writes over all that lies behind the output. Told: illegal memory access
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void fill(float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 64 * n) output[i] = 1.0f;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  fill<<<64 * ((n - 1) / 256 + 1), 256>>>(output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
