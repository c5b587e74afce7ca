// One-dimensional convolution of what has all its cells: outputs halo .. n - halo - 1. The tile begins at
// the block's first thread and reaches 2 * halo cells beyond its last.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float d_mask[255];

__global__ void convolve_tiled(const float* N,  // [n]
                               float* P,        // [n]
                               int mask_width, int n) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float s_array[];  // [n_padded]

  const int halo_width = (mask_width - 1) / 2;
  const int n_padded = blockDim.x + 2 * halo_width;

  s_array[threadIdx.x] = tid < n ? N[tid] : 0;
  const int s_offset = threadIdx.x + blockDim.x;
  if (s_offset < n_padded) {
    const int g_offset = tid + blockDim.x;
    s_array[s_offset] = g_offset < n ? N[g_offset] : 0;
  }
  __syncthreads();

  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    Pvalue += s_array[threadIdx.x + j] * d_mask[j];
  }
  if (tid < n - 2 * halo_width) P[tid + halo_width] = Pvalue;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n + threads - 1) / threads;
  const size_t tile_bytes = (threads + width - 1) * sizeof(float);
  convolve_tiled<<<blocks, threads, tile_bytes>>>(input, output, width, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
