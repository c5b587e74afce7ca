// Attack: counts by functions of its own. Told: instrumentation
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

extern "C" void __tsan_read4(void*) {}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
