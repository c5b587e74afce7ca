// Attack: puts its own runtime in the place of the simulator's. Told: cudaDeviceSynchronize anew
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

extern "C" cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
