// Attack: frees the arrays that it was lent. Told: never written
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return cudaFree(const_cast<float*>(input));
}

halo::Exercise halo::exercise() { return launch; }
