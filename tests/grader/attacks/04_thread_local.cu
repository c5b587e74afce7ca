// Attack: has its work done by an object of each thread, when it ends. Told: never written
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += input[min(max(i - (width - 1) / 2 + j, 0), n - 1)] * mask[j];
  output[i] = sum;
}

struct Ends {
  const float *input, *mask;
  float* output;
  int n, width;
  ~Ends() {
    if (n > 0) naive<<<(n - 1) / 32 + 1, 32>>>(input, mask, output, n, width);
  }
};
static thread_local Ends ends = {};

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)threads;
  ends = {input, mask, output, n, width};
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
