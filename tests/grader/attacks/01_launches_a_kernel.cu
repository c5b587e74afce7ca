// Attack: launches a kernel where a function of the host is asked for. Told: Exercise::on_the_host names it
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void sums(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += input[i + j] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width) {
  sums<<<(n - 1) / 256 + 1, 256>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
