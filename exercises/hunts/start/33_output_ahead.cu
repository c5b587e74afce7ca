// One-dimensional convolution of what has all its cells: outputs halo .. n - halo - 1. The tile begins at
// the block's first thread, so a thread's sum belongs to the output halo cells ahead of it.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float d_mask_constant[255];

__global__ void convolve(const float* N,  // [n]
                         float* P,        // [n]
                         int mask_width, int N_rowlen) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float s_array[];  // [n_padded]

  const int halo_width = (mask_width - 1) / 2;
  const int n_padded = blockDim.x + 2 * halo_width;
  for (int s = threadIdx.x; s < n_padded; s += blockDim.x) {
    const int g_offset = blockIdx.x * blockDim.x + s;
    s_array[s] = g_offset < N_rowlen ? N[g_offset] : 0;
  }
  __syncthreads();

  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    Pvalue += s_array[threadIdx.x + j] * d_mask_constant[j];
  }
  if (tid >= halo_width && tid < N_rowlen - halo_width) {
    P[tid + halo_width] = Pvalue;
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n + threads - 1) / threads;
  const size_t tile_bytes = (threads + width - 1) * sizeof(float);
  convolve<<<blocks, threads, tile_bytes>>>(input, output, width, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
