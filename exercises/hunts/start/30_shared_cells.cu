// One-dimensional convolution; a block's cells and their halo are in shared memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

// The block's cells begin at cells[halo].
__global__ void convolve(const float* input,  // [n]
                         const float* mask,   // [width]
                         float* output,       // [n]
                         int n, int width) {
  extern __shared__ float cells[];
  const int halo = width / 2;
  const int base = blockIdx.x * blockDim.x;

  for (int s = threadIdx.x - halo; s < static_cast<int>(blockDim.x) + halo; s += blockDim.x) {
    const int k = base + s;
    cells[halo + s] = k >= 0 && k < n ? input[k] : 0.0f;
  }
  __syncthreads();

  const int i = base + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += cells[threadIdx.x + j] * mask[j];
    output[i] = sum;
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  const int blocks = (n + threads - 1) / threads;
  convolve<<<blocks, threads, threads * sizeof(float)>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
