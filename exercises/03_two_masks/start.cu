// Exercise 03: a smoothed signal and its slope in one pass. The task: README.md beside this file.
//
// Computes   smooth[i] = sum over j of smooth_mask[j] * input[i - (smooth_width - 1) / 2 + j], and
//            slope[i] = sum over j of slope_mask[j] * input[i - (slope_width - 1) / 2 + j]; cells beyond
//            the ends are zero.
// Must cost  each cell loaded once for both sums, both masks in one constant array, all lanes on one tap:
//            with 9 and 5 taps and 100,000 places at most 29,500 load requests and 47,000 reads of
//            constant memory.
// Run        ./halo try 03
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxTaps = 1024;  // of both masks together
__constant__ float masks_constant[kMaxTaps];

// Preconditions: gridDim.x * blockDim.x >= n; both widths are odd, their sum is at most kMaxTaps, and either
// may be the larger one; masks_constant holds what `launch` put there.
__global__ void two_masks(const float* input,  // [n]
                          float* smooth,       // [n]
                          float* slope,        // [n]
                          int n, int smooth_width, int slope_width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;

  const int smooth_halo = (smooth_width - 1) / 2;
  const int slope_halo = (slope_width - 1) / 2;
  float smooth_sum = 0.0f;
  float slope_sum = 0.0f;

  // TODO 1: one loop over the cells that either sum needs, each loaded once. Both masks have their middle
  // at cell i.
  (void)smooth_halo;
  (void)slope_halo;
  (void)input;
  // END 1

  smooth[i] = smooth_sum;
  slope[i] = slope_sum;
}

// Arrays are on the device; `threads` of a block.
static int launch(const float* input, const float* smooth_mask, const float* slope_mask,
                  float* smooth, float* slope, int n, int smooth_width, int slope_width,
                  int threads) {
  // TODO 2: both masks into masks_constant, the second after the first. The masks of this call: those of
  // the call before may have been others. (They are on the device: cudaMemcpyDeviceToDevice.)
  (void)smooth_mask;
  (void)slope_mask;
  // END 2
  const int blocks = (n - 1) / threads + 1;
  two_masks<<<blocks, threads>>>(input, smooth, slope, n, smooth_width, slope_width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
