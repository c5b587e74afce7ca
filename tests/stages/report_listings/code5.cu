// The report's Code 5 (strategy 2), with the errors of its listing.
#include "tests/stages/report_listings/listings.hpp"

namespace halo::report_listings {

__constant__ static float d_mask_constant[15];

#define TILE_WIDTH 4  // [bug:tile-width] the program's default block has 16 threads

__global__ void code5_kernel(const float* N, float* P, int mask_width, int N_rowlen) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s_array[TILE_WIDTH];

  s_array[threadIdx.x] = N[i];  // [bug:load] past the tile, and past the end of N
  __syncthreads();

  const int halo_width = (mask_width - 1) / 2;
  if (i < halo_width || i > (N_rowlen - 1 - halo_width)) return;

  const int this_tile_start_point = blockIdx.x * blockDim.x;
  const int next_tile_start_point = (blockIdx.x + 1) * blockDim.x;
  const int N_start_point = i - halo_width;

  float Pvalue = 0;
  for (int j = 0; j < mask_width; j++) {
    const int N_index = N_start_point + j;
    if (N_index >= 0 && N_index < N_rowlen) {
      const int reading_from_s_array =
          N_index >= this_tile_start_point && N_index < next_tile_start_point;
      if (reading_from_s_array) {
        Pvalue += s_array[threadIdx.x - halo_width + j] * d_mask_constant[j];
      } else {
        Pvalue += N[N_index] * d_mask_constant[j];
      }
    }
  }
  P[i] = Pvalue;
}

cudaError_t code5(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(d_mask_constant, mask, width * sizeof(float));
  const int blocks = (n + threads - 1) / threads;
  code5_kernel<<<blocks, threads>>>(input, output, width, n);
  return cudaGetLastError();
}

}  // namespace halo::report_listings
