// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) { output[0] = 0.0f; }

static int launch(const float* input, const float* smooth_mask, const float* slope_mask,
                  float* smooth, float* slope, int n, int smooth_width, int slope_width,
                  int threads) {
  (void)smooth_mask;
  (void)slope_mask;
  (void)slope;
  (void)n;
  (void)smooth_width;
  (void)slope_width;
  (void)threads;
  float cell = 0.0f;
  cudaMemcpy(&cell, input, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>(smooth));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
