// Attack: has the function that every <<<>>> calls. Told: anew, which others use
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t) { return 1; }

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += input[min(max(i - width / 2 + j, 0), n - 1)] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
