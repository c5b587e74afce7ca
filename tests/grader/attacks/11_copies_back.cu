// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) { output[0] = 0.0f; }

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  (void)indices;
  (void)planes;
  (void)H;
  (void)W;
  (void)size;
  (void)stride;
  (void)padding;
  float cell = 0.0f;
  cudaMemcpy(&cell, input, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>(maxima));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
