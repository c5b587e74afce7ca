// Attack: reads the judge's memory. Told: maps memory
#include <cuda_runtime.h>
#include <sys/uio.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  process_vm_readv(1, nullptr, 0, nullptr, 0, 0);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
