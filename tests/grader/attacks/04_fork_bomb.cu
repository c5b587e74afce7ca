// Attack: starts processes without an end. Told: fork, which starts other programs
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  for (;;) fork();
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
