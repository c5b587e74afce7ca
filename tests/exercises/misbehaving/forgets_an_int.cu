// Copies, writes twice the place of each cell, and forgets that of cell 34.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void copy(const float* input, float* output, int* twice, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  output[i] = input[i];
  if (i != 34) twice[i] = 2 * i;
}

static int launch(const float* input, float* output, int* twice, int n) {
  copy<<<(n + 63) / 64, 64>>>(input, output, twice, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
