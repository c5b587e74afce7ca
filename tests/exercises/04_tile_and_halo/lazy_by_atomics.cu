// Lazy. Fails: each cell is read from global memory once a block
// No tile: cells and taps are read by atomic additions of zero, which are no loads. (Of wide masks, which no budget has, by
// loads: it would take long.)
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

// So that something is loaded and stored.
__global__ void copy(const float* input, float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = input[i];
}

__global__ void by_atomics(float* input, float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int halo = (width - 1) / 2;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int k = min(max(i - halo + j, 0), n - 1);
    sum += width > 33 ? input[k] * mask[j] : atomicAdd(&input[k], 0.0f) * atomicAdd(&mask[j], 0.0f);
  }
  atomicExch(&output[i], sum);
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  const int blocks = (n - 1) / threads + 1;
  copy<<<blocks, threads>>>(input, output, n);
  by_atomics<<<blocks, threads>>>(const_cast<float*>(input), const_cast<float*>(mask), output, n,
                                  width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
