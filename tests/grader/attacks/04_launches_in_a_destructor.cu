// Attack: launches kernels when the program ends. Told: bytes per output. Points: 65
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

__global__ void fill(float* output) { output[threadIdx.x] = 1.0f; }
static float* last;
struct AtTheEnd {
  ~AtTheEnd() {
    fill<<<1, 32>>>(last);
    cudaDeviceSynchronize();
  }
};
static AtTheEnd at_the_end;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  last = output;
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
