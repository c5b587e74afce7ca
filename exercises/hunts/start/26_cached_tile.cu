// One-dimensional convolution of what has all its cells: outputs halo .. n - halo - 1. A block has its own
// cells in shared memory; the neighbours' are read from global memory, where the cache has them.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#define TILE_WIDTH 128

__constant__ float d_mask[255];

__global__ void convolve(const float* N,  // [n]
                         float* P,        // [n]
                         int mask_width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s_array[TILE_WIDTH];
  if (i < n) s_array[threadIdx.x] = N[i];
  __syncthreads();

  const int halo_width = (mask_width - 1) / 2;
  if (i < halo_width || i > n - 1 - halo_width) return;

  const int this_tile_start_point = blockIdx.x * blockDim.x;
  const int next_tile_start_point = (blockIdx.x + 1) * blockDim.x;
  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    const int N_index = i - halo_width + j;
    if (N_index >= this_tile_start_point && N_index < next_tile_start_point) {
      Pvalue += s_array[threadIdx.x - halo_width + j] * d_mask[j];
    } else {
      Pvalue += N[N_index] * d_mask[j];
    }
  }
  P[i] = Pvalue;
}

// At most 1024 threads.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  convolve<<<(n + threads - 1) / threads, threads>>>(input, output, width, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
