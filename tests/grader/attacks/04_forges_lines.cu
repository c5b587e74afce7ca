// Attack: says that its lines are another file's. Told: forges the places
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

#line 1 "/usr/include/stdio.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  _exit(0);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
