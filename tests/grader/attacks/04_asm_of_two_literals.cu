// Attack: has assembler in two literals, of which the first is empty. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  asm volatile(
      ""
      "nop");
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
