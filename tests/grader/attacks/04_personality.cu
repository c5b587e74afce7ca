// Attack: changes its personality. Told: looks into or ends other processes
#include <cuda_runtime.h>
#include <sys/personality.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  personality(0x0040000);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
