// Attack: never ends its kernel. Told: timed out
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void kernel(volatile float* output) {
  while (output[0] != 12345.0f) {
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  kernel<<<1, 32>>>(output);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
