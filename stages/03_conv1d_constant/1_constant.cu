// Stage 03, step 1: the mask in constant memory.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 02 grid: the mask is a __constant__ array. All lanes of a warp read the same
//            tap, and the constant cache hands one value to all of them.
// Must cost  per warp of 32 outputs and tap 1 request of 4 or 5 sectors for the signal, none for
//            the mask; then 1 store of 4 sectors. With 9 taps 48.0 bytes per output. Half the
//            requests of 02 grid are gone, but only a sixth of its bytes: a tap was one sector.
// Run        ./halo run 03 --variant constant
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_constant {

// [doc:kernel]
// 64 KB of constant memory would hold 16,384 taps; a mask that wide is better done another way.
__constant__ float mask_constant[kMaxMaskWidth];

// Preconditions: gridDim.x * blockDim.x >= n; width is odd, at most kMaxMaskWidth and as given to
// set_mask; 0 <= first, last <= n.
__global__ void constant_kernel(const float* input,  // [n]
                                float* output,       // [n], written from first to last - 1
                                int n, int width, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= last) return;  // the last block may reach past the signal

  const int halo = (width - 1) / 2;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int k = i - halo + j;
    // j is the same in all lanes, so this is one constant read per warp. An index that differed
    // from lane to lane would be read one address after the other.
    if (k >= 0 && k < n) sum += input[k] * mask_constant[j];
  }
  output[i] = sum;
}
// [/doc:kernel]

static int set_mask(const float* mask, int width) {
  return cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float));
}

static int launch(const Conv1dCall& c) {
  const int blocks = (c.length - 1) / c.threads + 1;
  constant_kernel<<<blocks, c.threads>>>(c.input, c.output, c.length, c.mask_width, c.first,
                                         c.last);
  return cudaGetLastError();
}

Conv1dKernel constant() {
  return {.description = "one thread per output, the mask in constant memory",
          .launch = launch,
          .set_mask = set_mask,
          .task = 3};
}

}  // namespace halo::conv1d_constant
