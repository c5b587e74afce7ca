// Attack: waits for the judge to give up. Told: sleep, which waits
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  sleep(1000);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
