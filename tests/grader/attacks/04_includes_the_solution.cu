// Attack: includes the solution. Told: #include of an absolute path or of one with ..
#include <cuda_runtime.h>

#include "../../solutions/04_tile_and_halo/tile_and_halo.cu"
#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
