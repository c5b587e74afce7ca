// Attack: makes the inputs itself from a seed. Told: should be
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

__global__ void fill(float* output, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = value * i;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::srand(20240607);
  fill<<<(n - 1) / 256 + 1, 256>>>(output, n, static_cast<float>(std::rand()));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
