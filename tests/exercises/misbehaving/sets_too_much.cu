// output[i] = input[i], behind a call that sets more than the output has and whose error nobody asks for.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void copy(const float* input, float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = input[i];
}

static int launch(const float* input, float* output, int n) {
  cudaMemset(output, 0, (n + 1) * sizeof(float));
  cudaGetLastError();
  copy<<<(n + 63) / 64, 64>>>(input, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
