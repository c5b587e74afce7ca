// Exercise 02: four outputs per thread, in two orders. The task: README.md beside this file.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends are zero.
// Must cost  each tap loaded once for four outputs, and neighbouring lanes on neighbouring cells: with 9
//            taps, 256 threads and step = 256 at most 52 bytes per output, in at most 36,500 load
//            requests for 100,000 outputs. Everything comes from global memory.
// Run        ./halo try 02
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kOutputs = 4;  // of a thread

// Preconditions: gridDim.x * blockDim.x * kOutputs >= n; width is odd and may be longer than the signal;
// step is 1 or blockDim.x.
__global__ void four_outputs(const float* input,  // [n]
                             const float* mask,   // [width]
                             float* output,       // [n]
                             int n, int width, int step) {
  const int halo = (width - 1) / 2;
  const int block_start = blockIdx.x * blockDim.x * kOutputs;  // the block's first output

  // TODO 1: the thread computes output[first], [first + step], [first + 2 * step] and [first + 3 * step].
  // All threads together compute each of the block's outputs once, with step = 1 and with
  // step = blockDim.x.
  // With step 1 threads stand four outputs apart, each with a run of its own; with step blockDim.x they
  // stand side by side, and the block goes over its outputs in four turns.
  const int first = block_start + (step == 1 ? kOutputs * threadIdx.x : threadIdx.x);
  // END 1

  float sums[kOutputs] = {};  // in registers, as long as every index is known when it is compiled

  // TODO 2: all four sums, each tap loaded from global memory once. Cells beyond the ends are zero.
  // The loop over outputs inside: the other way round each tap would be loaded four times.
  for (int j = 0; j < width; ++j) {
    const float tap = mask[j];
    for (int r = 0; r < kOutputs; ++r) {
      const int k = first + r * step - halo + j;
      if (k >= 0 && k < n) sums[r] += input[k] * tap;
    }
  }
  // END 2

  // TODO 3: write those of the four that exist.
  // Each asks for itself: the first may lie within the signal and the fourth beyond it.
  for (int r = 0; r < kOutputs; ++r) {
    const int i = first + r * step;
    if (i < n) output[i] = sums[r];
  }
  // END 3
}

// Arrays are on the device; `threads` of a block; step is 1 or `threads`.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads, int step) {
  // TODO 4: how many blocks do n outputs need?
  const int blocks = (n - 1) / (threads * kOutputs) + 1;
  // END 4
  four_outputs<<<blocks, threads>>>(input, mask, output, n, width, step);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
