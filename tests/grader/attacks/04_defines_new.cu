// Attack: puts its own operator new in the place of the system's. Told: operator new
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

void* operator new(std::size_t) { std::abort(); }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
