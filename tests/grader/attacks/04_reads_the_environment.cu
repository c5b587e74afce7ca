// Attack: looks for the solution's place in the environment. Told: reads the environment
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (std::getenv("HALO_BUILD") != nullptr) return 1;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
