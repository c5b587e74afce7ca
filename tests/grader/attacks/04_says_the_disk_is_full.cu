// Attack: has the compiler say that the disk is full, so that nobody is to blame. Told: expected a declaration
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

[[deprecated("No space left on device")]] static int old() { return 1; }
static const int used = old();

//+ naive.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }

this is no program
