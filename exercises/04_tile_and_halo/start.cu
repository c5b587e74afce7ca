// Exercise 04: the tile, its halo, and ends that are repeated. The task: README.md beside this file.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; a cell beyond the ends is
//            replaced by the first or the last cell of the signal, as audio and image filters do.
// Must cost  each cell of the signal read from global memory once per block: at most 10.5 bytes
//            per output with 256 threads and 9 taps, and hardly a bank conflict.
// Run        ./halo try 04
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxMaskWidth = 1023;
__constant__ float mask_constant[kMaxMaskWidth];

// Preconditions: gridDim.x * blockDim.x >= n; width is odd, 1 to kMaxMaskWidth, and may be wider than the
// block and longer than the signal; blockDim.x is 1 to 1024; dynamic shared memory holds what `launch`
// asks for.
__global__ void tile_and_halo(const float* input,  // [n]
                              float* output,       // [n]
                              int n, int width) {
  extern __shared__ float tile[];  // [blockDim.x + 2 * halo], tile[s] is the cell tile_start + s

  const int halo = (width - 1) / 2;
  const int tile_start = static_cast<int>(blockIdx.x * blockDim.x) - halo;

  // TODO 1: the block's threads load the tile together: each of its cells once, also where the halo is
  // wider than the block. Before the first cell of the signal comes input[0], after the last
  // input[n - 1].
  (void)tile_start;
  (void)input;
  // END 1

  // TODO 2: who may read the tile, and when?
  // END 2

  // TODO 3: the thread's output, from the tile and mask_constant; threads beyond the last cell have none.
  (void)tile;
  (void)output;
  // END 3
}

// Arrays are on the device; `threads` of a block.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / threads + 1;
  // TODO 4: the bytes of shared memory that a block needs.
  const size_t tile_bytes = 0;
  // END 4
  tile_and_halo<<<blocks, threads, tile_bytes>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
