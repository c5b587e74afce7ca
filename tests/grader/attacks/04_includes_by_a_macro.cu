// Attack: includes a file of the check by a macro. Told: No such file
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#define FILE_OF(name) <common/exercise/name>
#include FILE_OF(wire.hpp)

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
