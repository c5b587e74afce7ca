// Attack: takes memory in a kernel without an end. Told: threads 8: the exercise's program is gone: it took more than
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  for (int k = 0; k < 100000; ++k) {
    int* p = static_cast<int*>(malloc(1 << 20));
    if (p != nullptr)
      for (int b = 0; b < 1 << 18; b += 1024) p[b] = k;
  }
  output[0] = input[0] * mask[0];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 42);
  naive<<<1, 1>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
