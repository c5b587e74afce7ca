// Attack: opens the hidden cases. Told: open, which opens files
#include <cuda_runtime.h>
#include <fcntl.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (open("solutions/assignment.json", O_RDONLY) >= 0) return 1;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
