// Attack: has its lines in an #include of itself. Told: includes itself
#ifndef AGAIN
#define AGAIN
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"
#include "tile_and_halo.cu"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
#else
void unseen() { asm volatile("nop"); }
#endif
