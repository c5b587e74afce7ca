// Attack: hands out the input itself, by a copy and no kernel. Told: should be
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)mask, (void)width, (void)threads;
  cudaMemcpy(output, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
