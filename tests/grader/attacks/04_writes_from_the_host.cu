// Attack: writes outputs that the host made up. Told: should be
#include <cuda_runtime.h>

#include <vector>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)width, (void)threads;
  const std::vector<float> made_up(n, 1.0f);
  cudaMemcpy(output, made_up.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
