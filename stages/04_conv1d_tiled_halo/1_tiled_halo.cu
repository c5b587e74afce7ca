// Stage 04, step 1: the block loads its tile and the halo into shared memory.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 03 constant: a cell of the signal is read from global memory once per block,
//            not once per tap. The block writes its tile and the halo on both sides to shared
//            memory, waits, and computes from there.
// Must cost  with 256 threads and 9 taps, per block: 264 cells loaded by 9 requests of 42 sectors
//            together (03: 72 requests, 352 sectors) and stored to shared memory once; then per
//            warp and tap 1 shared read without conflict; per warp 1 store of 4 sectors.
//            9.25 bytes per output, where 8 is the least possible.
// Run        ./halo run 04 --variant tiled_halo
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_tiled_halo {

// [doc:kernel]
__constant__ float mask_constant[kMaxMaskWidth];

// Preconditions: gridDim.x * blockDim.x >= n; width is odd, at most kMaxMaskWidth and as given to
// set_mask; 0 <= first, last <= n; dynamic shared memory holds blockDim.x + width - 1 floats.
__global__ void tiled_halo_kernel(const float* input,  // [n]
                                  float* output,       // [n], written from first to last - 1
                                  int n, int width, int first, int last) {
  extern __shared__ float tile[];  // [blockDim.x + 2 * halo], tile[s] is input[tile_start + s]

  const int halo = (width - 1) / 2;
  const int tile_size = blockDim.x + 2 * halo;
  const int tile_start = static_cast<int>(blockIdx.x * blockDim.x) - halo;

  // As many turns as the tile needs: a halo wider than the block takes more than two. The report
  // loads exactly twice, which is enough only while 2 * halo <= blockDim.x.
  const int t = threadIdx.x;
  for (int s = t; s < tile_size; s += blockDim.x) {
    const int k = tile_start + s;
    tile[s] = (k >= 0 && k < n) ? input[k] : 0.0f;  // beyond the ends: zero, written once, here
  }

  // Every thread waits here, also those without an output: their cells are needed by others.
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + t;
  if (i < first || i >= last) return;

  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    sum += tile[t + j] * mask_constant[j];  // neighbours read neighbours: 32 banks, no conflict
  }
  output[i] = sum;
}
// [/doc:kernel]

static int set_mask(const float* mask, int width) {
  return cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float));
}

static int launch(const Conv1dCall& c) {
  const int blocks = (c.length - 1) / c.threads + 1;
  const size_t tile_bytes = (c.threads + c.mask_width - 1) * sizeof(float);  // at most 8 KB
  tiled_halo_kernel<<<blocks, c.threads, tile_bytes>>>(c.input, c.output, c.length, c.mask_width,
                                                       c.first, c.last);
  return cudaGetLastError();
}

Conv1dKernel tiled_halo() {
  return {.description = "the block loads its tile and the halo into shared memory",
          .launch = launch,
          .set_mask = set_mask,
          .multiplies_ghosts = true,
          .task = 4};
}

}  // namespace halo::conv1d_tiled_halo
