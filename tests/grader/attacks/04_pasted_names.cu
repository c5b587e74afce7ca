// Attack: hides names of the simulator by pasting them together. Told: simulator's internals
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#define PASTE(a, b) a##b
namespace PASTE(si, mt) {
  int forged;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
