// Attack: ends the program with a good status before main begins. Told: attribute constructor
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

__attribute__((constructor)) void early() { _exit(0); }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
