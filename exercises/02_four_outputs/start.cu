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
  const int first = block_start;
  // END 1

  float sums[kOutputs] = {};  // in registers, as long as every index is known when it is compiled

  // TODO 2: all four sums, each tap loaded from global memory once. Cells beyond the ends are zero.
  (void)halo;
  (void)input;
  (void)mask;
  // END 2

  // TODO 3: write those of the four that exist.
  (void)sums[0];
  (void)output;
  (void)first;
  // END 3
}

// Arrays are on the device; `threads` of a block; step is 1 or `threads`.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads, int step) {
  // TODO 4: how many blocks do n outputs need?
  const int blocks = 1;
  // END 4
  four_outputs<<<blocks, threads>>>(input, mask, output, n, width, step);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
