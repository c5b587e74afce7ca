// Stage 05, step 1: the block loads its tile; the halo comes through the cache.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 04 tiled_halo: the tile holds only the block's own cells. The halo cells belong
//            to neighbours who load them too, so they are probably in the L2 cache: they are read
//            from global memory when a tap needs them.
// Must cost  with 256 threads and 9 taps, per block: its cells by 8 requests of 4 sectors; 8 more
//            requests of 1 sector for the taps that leave the tile, 4 at each end; then as 04.
//            9.00 bytes per output, less than 04, whose tile does not begin on a sector. The
//            price is a check in every tap.
// Run        ./halo run 05 --variant tiled_cached
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_tiled_cached {

// [doc:kernel]
__constant__ float mask_constant[kMaxMaskWidth];

// Preconditions: gridDim.x * blockDim.x >= n; width is odd, at most kMaxMaskWidth and as given to
// set_mask; 0 <= first, last <= n; dynamic shared memory holds blockDim.x floats.
__global__ void tiled_cached_kernel(const float* input,  // [n]
                                    float* output,       // [n], written from first to last - 1
                                    int n, int width, int first, int last) {
  extern __shared__ float tile[];  // [blockDim.x], tile[s] is input[tile_start + s]

  const int tile_start = blockIdx.x * blockDim.x;
  const int tile_end = min(tile_start + static_cast<int>(blockDim.x), n);

  const int t = threadIdx.x;
  const int i = tile_start + t;
  if (i < n) tile[t] = input[i];  // cells past the end of the signal are never read

  // Every thread waits here, also those without an output.
  __syncthreads();
  if (i < first || i >= last) return;

  const int halo = (width - 1) / 2;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int k = i - halo + j;
    if (k < 0 || k >= n) continue;  // beyond the ends: adds zero
    float cell;
    if (k >= tile_start && k < tile_end) {
      cell = tile[k - tile_start];
    } else {
      cell = input[k];  // a halo cell: global memory, probably found in a cache
    }
    sum += cell * mask_constant[j];
  }
  output[i] = sum;
}
// [/doc:kernel]

static int set_mask(const float* mask, int width) {
  return cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float));
}

static int launch(const Conv1dCall& c) {
  const int blocks = (c.length - 1) / c.threads + 1;
  const size_t tile_bytes = c.threads * sizeof(float);
  tiled_cached_kernel<<<blocks, c.threads, tile_bytes>>>(c.input, c.output, c.length, c.mask_width,
                                                         c.first, c.last);
  return cudaGetLastError();
}

Conv1dKernel tiled_cached() {
  return {.description = "the block's own cells in shared memory, the halo through the cache",
          .launch = launch,
          .set_mask = set_mask,
          .task = 5};
}

}  // namespace halo::conv1d_tiled_cached
