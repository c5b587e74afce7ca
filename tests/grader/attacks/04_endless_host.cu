// Attack: never ends its launch. Told: took more than
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  for (volatile int i = 0;; i = i + 1) {
  }
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
