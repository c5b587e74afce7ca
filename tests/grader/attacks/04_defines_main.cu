// Attack: puts its own main in the place of the worker's. Told: main, which is the check's
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

int main() { return 0; }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
