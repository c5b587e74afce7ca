// Attack: says that it is a system's header, whose lines nobody looks at. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#pragma GCC system_header
void unseen() { asm volatile("nop"); }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
