// Attack: ends the program by a signal of its own. Told: ended by signal
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::abort();
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
