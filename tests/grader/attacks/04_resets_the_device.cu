// Attack: resets the device that it was lent. Told: device
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return cudaDeviceReset();
}

halo::Exercise halo::exercise() { return launch; }
