// Attack: jumps out of the call. Told: jumps out
#include <cuda_runtime.h>

#include <csetjmp>

#include "common/exercise/exercise.h"

std::jmp_buf place;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (setjmp(place) == 0) std::longjmp(place, 1);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
