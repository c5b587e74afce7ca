// Attack: replaces the status in a function for the end of the program. Told: ends the program
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

void late() { _exit(0); }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::atexit(late);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
