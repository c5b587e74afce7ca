// The report's Code 4 (strategy 1) with its bounds corrected, to show what is left: the tile is an
// array of int, so every cell loses its fraction on the way through shared memory.
#include "tests/stages/report_listings/listings.hpp"

namespace halo::report_listings {

__constant__ static float d_mask_constant[15];

__global__ void code4_int_tile_kernel(const float* N, float* P, int mask_width, int N_rowlen) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ int s_array[];  // [bug:int-tile]

  const int halo_width = (mask_width - 1) / 2;
  s_array[threadIdx.x] = tid < N_rowlen ? N[tid] : 0.0f;
  const int n_padded = blockDim.x + 2 * halo_width;
  const int s_offset = threadIdx.x + blockDim.x;
  const int g_offset = tid + blockDim.x;
  if (s_offset < n_padded) {
    s_array[s_offset] = g_offset < N_rowlen ? N[g_offset] : 0.0f;
  }
  __syncthreads();

  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    Pvalue += s_array[threadIdx.x + j] * d_mask_constant[j];
  }
  if (tid + 2 * halo_width < N_rowlen) {
    P[tid + halo_width] = Pvalue;
  }
}

cudaError_t code4_int_tile(const float* input, const float* mask, float* output, int n, int width,
                           int threads) {
  cudaMemcpyToSymbol(d_mask_constant, mask, width * sizeof(float));
  const int blocks = (n + threads - 1) / threads;
  const size_t shared_bytes = (threads + width - 1) * sizeof(int);
  code4_int_tile_kernel<<<blocks, threads, shared_bytes>>>(input, output, width, n);
  return cudaGetLastError();
}

}  // namespace halo::report_listings
