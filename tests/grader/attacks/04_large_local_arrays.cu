// Attack: has so much local memory in each thread that the device has none left. Told: threads 8: the exercise's program is gone: it took more than
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cells[100000];
  for (int k = 0; k < 100000; ++k) cells[(k * 7 + n) % 100000] = k;
  if (i >= n) return;
  output[i] = cells[(n * width) % 100000] + input[0] * mask[0];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  naive<<<64, 1024>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
