// Attack: ends the program from the constructor of a global object. Told: _exit, which ends the program
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

struct Early {
  Early() { _exit(0); }
} early;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
