// Attack: includes the accounts of the machine. Told: line 4: #include of an absolute path
#include <cuda_runtime.h>

#include "/etc/passwd"
#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
