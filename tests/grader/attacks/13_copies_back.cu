// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) { output[0] = 0.0f; }

static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  (void)layout;
  (void)N;
  (void)L;
  (void)A;
  float cell = 0.0f;
  cudaMemcpy(&cell, cost, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>(spent));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
