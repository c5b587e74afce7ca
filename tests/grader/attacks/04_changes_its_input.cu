// Attack: makes the input fit the output. Told: should be
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void fill(float* input, float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) input[i] = output[i] = 0.0f;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  fill<<<(n - 1) / 256 + 1, 256>>>(const_cast<float*>(input), output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
