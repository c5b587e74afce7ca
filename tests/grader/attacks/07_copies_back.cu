// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) { output[0] = 0.0f; }

static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  (void)pieces;
  (void)bytes;
  (void)N;
  (void)sms;
  (void)shared_bytes;
  (void)n_fma;
  float cell = 0.0f;
  cudaMemcpy(&cell, layers, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>(method));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
