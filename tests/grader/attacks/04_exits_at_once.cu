// Attack: ends the program with a good status in launch. Told: exit, which ends the program
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::exit(0);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
