// Attack: is two exercises. Told: does not compile
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

halo::Exercise halo::exercise();
static int launch(const float*, float*, int);
halo::Exercise halo::exercise() { return launch; }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
