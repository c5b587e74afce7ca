// One-dimensional convolution of what has all its cells: outputs halo .. n - halo - 1. A thread stands at
// its output, and the block's cells are in shared memory; those of the neighbours come from global memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float d_mask[255];

__global__ void convolve(const float* N,  // [n]
                         float* P,        // [n]
                         int mask_width, int n) {
  extern __shared__ float s_array[];  // [blockDim.x]
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int halo_width = mask_width / 2;

  if (i < n) s_array[threadIdx.x] = N[i];
  __syncthreads();

  if (i >= halo_width || i < n - halo_width) {
    const int this_tile = blockIdx.x * blockDim.x;
    const int next_tile = this_tile + blockDim.x;
    float Pvalue = 0;
    for (int j = 0; j < mask_width; j++) {
      const int k = i - halo_width + j;
      const float cell = k >= this_tile && k < next_tile ? s_array[k - this_tile] : N[k];
      Pvalue += cell * d_mask[j];
    }
    P[i] = Pvalue;
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n + threads - 1) / threads;
  convolve<<<blocks, threads, threads * sizeof(float)>>>(input, output, width, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
