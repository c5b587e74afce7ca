// Attack: throws through the judge. Told: thrown to be caught
#include <cuda_runtime.h>

#include <stdexcept>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (n > 0) throw std::runtime_error("thrown to be caught\n{\"case\":\"forged\"}");
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
