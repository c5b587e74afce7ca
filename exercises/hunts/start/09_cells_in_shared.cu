// One-dimensional convolution. A block keeps its cells and the halo on both sides in shared memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void convolve(const float* input,  // [n]
                         const float* mask,   // [width]
                         float* output,       // [n]
                         int n, int width) {
  extern __shared__ float tile[];  // [blockDim.x + 2 * halo]

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int halo = width / 2;
  const int first = blockIdx.x * blockDim.x - halo;

  // Zero beyond the ends.
  for (int s = threadIdx.x; s < blockDim.x + 2 * halo; s += blockDim.x) {
    const int k = first + s;
    tile[s] = k >= 0 && k < n ? input[k] : 0.0f;
  }
  __syncthreads();

  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += tile[threadIdx.x + j] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  const int blocks = (n + threads - 1) / threads;
  const size_t bytes = (threads + 2 * (width / 2)) * sizeof(float);
  convolve<<<blocks, threads, bytes>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
