// One-dimensional convolution of what has all its cells: outputs halo .. n - halo - 1. The tile begins at
// the block's first thread; the halo after the last is loaded in a second step.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float d_mask[255];

__global__ void convolve(const float* N,  // [n]
                         float* P,        // [n]
                         int mask_width, int n) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float s_array[];  // [blockDim.x + 2 * halo_width]
  const int halo_width = (mask_width - 1) / 2;

  s_array[threadIdx.x] = N[tid];
  for (int s = threadIdx.x; s < 2 * halo_width; s += blockDim.x) {
    const int g = (blockIdx.x + 1) * blockDim.x + s;
    s_array[blockDim.x + s] = g < n ? N[g] : 0;
  }
  __syncthreads();

  if (tid + 2 * halo_width >= n) return;
  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    Pvalue += s_array[threadIdx.x + j] * d_mask[j];
  }
  P[tid + halo_width] = Pvalue;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n + threads - 1) / threads;
  const size_t tile_bytes = (threads + width - 1) * sizeof(float);
  convolve<<<blocks, threads, tile_bytes>>>(input, output, width, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
