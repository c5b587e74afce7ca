// Exercise 10: from the naive transform to the tile, with bias and ReLU on the way. The task: README.md.
//
// Computes   output[n][c][h][w] = max(0, input[c][h][w][n] + bias[c]): CHWN to NCHW.
// Must cost  32 images, 4 channels of 16 x 16 cells: at most 10.5 bytes per output (the naive
//            transform moves 37) and at most 64 bank conflicts for 32 cells of 32 images.
// Run        ./halo try 10
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTile = 32;  // cells and images of a tile

// `cells` are all C * H * W of an image, which lie in the same order in both layouts; `plane` those of a
// channel, H * W. Cell number i is of channel i / plane.
// Preconditions: all sizes are at least 1, and N * cells fits into an int; blocks as `launch` starts them.
__global__ void tile_transform(const float* input,  // [cells][N]
                               const float* bias,   // [C]
                               float* output,       // [N][cells]
                               int N, int cells, int plane) {
  // TODO 1: a tile of 32 cells and 32 images in shared memory, read along the rows of the
  // input. Mind the last tiles, which are not full, and who may read the tile, and when.
  // One column more than is used: the 32 cells that a warp reads below each other are in 32 banks.
  __shared__ float tile[kTile][kTile + 1];  // [cell][image]
  const int tiles_across = (N - 1) / kTile + 1;
  const int first_cell = blockIdx.x / tiles_across * kTile;
  const int first_image = blockIdx.x % tiles_across * kTile;
  for (int row = threadIdx.y; row < kTile; row += blockDim.y) {
    const int cell = first_cell + row;
    const int n = first_image + threadIdx.x;  // lanes are neighbours in the input
    if (cell < cells && n < N) tile[row][threadIdx.x] = input[cell * N + n];
  }
  __syncthreads();  // the tile is complete
  // END 1

  // TODO 2: the outputs, written along their rows. The skeleton has the naive transform, with
  // neither bias nor ReLU.
  // Lanes are neighbours in the output: cells now. So a thread has one cell, of four images, and needs one
  // bias; on the other side it would have four cells, and read four.
  const int cell = first_cell + threadIdx.x;
  if (cell >= cells) return;
  const float own_bias = bias[cell / plane];
  for (int row = threadIdx.y; row < kTile; row += blockDim.y) {
    const int n = first_image + row;
    if (n < N) output[n * cells + cell] = fmaxf(tile[threadIdx.x][row] + own_bias, 0.0f);
  }
  // END 2
}

// Arrays are on the device.
static int launch(const float* input, const float* bias, float* output, int N, int C, int H,
                  int W) {
  const int cells = C * H * W;
  // TODO 3: a block for each tile. The skeleton's has a block for each cell, and 32 threads.
  const int blocks = ((cells - 1) / kTile + 1) * ((N - 1) / kTile + 1);
  const dim3 threads(kTile, 8);  // each has four cells of the tile
  // END 3
  tile_transform<<<blocks, threads>>>(input, bias, output, N, cells, H * W);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
