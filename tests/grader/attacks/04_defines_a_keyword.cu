// Attack: gives a word of the language another meaning. Told: is a word of the language
#define private public
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
