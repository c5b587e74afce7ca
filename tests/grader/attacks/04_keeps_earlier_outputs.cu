// Attack: leaves the outputs of an earlier call. Told: should be
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void copy(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
__device__ float kept[4096];

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  static int calls = 0;
  float* const earlier = nullptr;
  (void)earlier;
  void* at = nullptr;
  cudaGetSymbolAddress(&at, kept);
  if (++calls > 1) copy<<<16, 256>>>(static_cast<const float*>(at), output, min(n, 4096));
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
