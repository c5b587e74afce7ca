// Stage 02, step 1: one block walks the whole signal.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since the CPU loop (stage 01): the outputs of one turn of the loop over i are
//            computed at once, one by each thread of the block.
// Must cost  per warp of 32 outputs and tap 1 request for the signal, of 4 sectors (5 when it does
//            not begin on one), and 1 request of 1 sector for the mask; then 1 store of 4 sectors.
//            With 9 taps 57.0 bytes per output, where 8 is the least possible.
// Run        ./halo run 02 --variant single_block
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_global {

// [doc:kernel]
// Preconditions: gridDim.x == 1; width is odd; 0 <= first, last <= n.
__global__ void single_block_kernel(const float* input,  // [n]
                                    const float* mask,   // [width]
                                    float* output,       // [n], written from first to last - 1
                                    int n, int width, int first, int last) {
  const int halo = (width - 1) / 2;

  // The threads stand side by side and step by blockDim.x, so a warp reads neighbours. Giving each
  // thread its own run, as on a CPU, is not coalesced: up to 32 sectors per request instead of 4 or 5.
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int k = i - halo + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];
    }
    output[i] = sum;
  }
}
// [/doc:kernel]

static int launch(const Conv1dCall& c) {
  // One block runs on one multiprocessor: the others (an H200 has 132) stay idle.
  single_block_kernel<<<1, c.threads>>>(c.input, c.mask, c.output, c.length, c.mask_width, c.first,
                                        c.last);
  return cudaGetLastError();
}

Conv1dKernel single_block() {
  return {.description = "one block walks the whole signal", .launch = launch, .task = 1};
}

}  // namespace halo::conv1d_global
