// Stage 02, step 2: one thread per output.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 1_single_block: as many blocks as the outputs need, spread over the whole GPU.
//            The loop over the signal is gone.
// Must cost  the same: per warp and tap 1 request of 4 or 5 sectors for the signal and 1 of 1
//            sector for the mask; then 1 store of 4 sectors. With 9 taps 57.0 bytes per output: the
//            grid changes who does the work, not how much is moved.
// Run        ./halo run 02 --variant grid
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_global {

// [doc:kernel]
// Preconditions: gridDim.x * blockDim.x >= n; width is odd; 0 <= first, last <= n.
__global__ void grid_kernel(const float* input,  // [n]
                            const float* mask,   // [width]
                            float* output,       // [n], written from first to last - 1
                            int n, int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;  // the last block may reach past the signal

  const int halo = (width - 1) / 2;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int k = i - halo + j;
    // Every tap asks whether it lies inside. A copy of the signal with zeros at both ends would
    // need no question, but costs a pass over the signal to make.
    if (k >= 0 && k < n) sum += input[k] * mask[j];
  }
  output[i] = sum;
}
// [/doc:kernel]

// [doc:launch]
static int launch(const Conv1dCall& c) {
  const int blocks = (c.length - 1) / c.threads + 1;
  grid_kernel<<<blocks, c.threads>>>(c.input, c.mask, c.output, c.length, c.mask_width, c.first,
                                     c.last);
  return cudaGetLastError();
}
// [/doc:launch]

Conv1dKernel grid() { return {.description = "a thread per output", .launch = launch, .task = 2}; }

}  // namespace halo::conv1d_global
