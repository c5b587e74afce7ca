// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) { output[0] = 0.0f; }

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  (void)lengths;
  (void)N;
  (void)C;
  float cell = 0.0f;
  cudaMemcpy(&cell, input, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>(output));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
