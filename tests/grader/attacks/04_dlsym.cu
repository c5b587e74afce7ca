// Attack: looks for the counters by their names. Told: dlsym, which loads other code
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (dlsym(nullptr, "environ") != nullptr) return 1;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
