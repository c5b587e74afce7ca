// Exercise 11: the largest cell of each window, and where it is. The task: README.md beside this file.
//
// Computes   maxima[c][p][q] = the largest cell of the window of plane c that begins at row p * stride - padding
//            and column q * stride - padding; indices[c][p][q] = h * W + w of that cell, of the
//            first one if several are equally large. Ghost cells take no part.
// Must cost  each cell of the input read hardly more than once: with windows of 3 and stride 2
//            at most 44 bytes per output (threads that read their own windows move 79).
// Run        ./halo try 11
#include <cuda_runtime.h>

#include <cmath>

#include "common/exercise/exercise.h"

constexpr int kRows = 8;      // of outputs, and of threads, of a block
constexpr int kColumns = 32;  // a warp has a row of outputs

// Preconditions: kColumns x kRows threads, a block for each tile of outputs of each plane; size is 1 to 11,
// stride 1 to 4, padding at most size / 2, so that no window has nothing but ghost cells; no cell is NaN, but
// cells may be -infinity; dynamic shared memory holds what `launch` asks for.
__global__ void max_with_index(const float* input,  // [planes][H][W]
                               float* maxima,       // [planes][P][Q]
                               int* indices,        // [planes][P][Q]
                               int H, int W, int P, int Q, int size, int stride, int padding) {
  // The windows of neighbouring outputs begin `stride` cells apart.
  const int tile_rows = (kRows - 1) * stride + size;
  const int tile_columns = (kColumns - 1) * stride + size;
  extern __shared__ float tile[];  // [tile_rows][tile_columns]

  const int plane = blockIdx.z;
  const float* const cells = input + plane * H * W;  // [H][W]
  // The place of tile[0][0] in the plane; above and left of it where there is padding.
  const int first_h = static_cast<int>(blockIdx.y) * kRows * stride - padding;
  const int first_w = static_cast<int>(blockIdx.x) * kColumns * stride - padding;

  // TODO 1: the block's threads load the tile together, each cell once. Who may read it, and when?
  // Ghost cells stay as they are: nobody reads them.
  for (int r = threadIdx.y; r < tile_rows; r += kRows) {
    const int h = first_h + r;
    if (h < 0 || h >= H) continue;
    for (int c = threadIdx.x; c < tile_columns; c += kColumns) {
      const int w = first_w + c;
      if (w >= 0 && w < W) tile[r * tile_columns + c] = cells[h * W + w];
    }
  }
  __syncthreads();  // the tile is complete
  // END 1

  const int p = blockIdx.y * kRows + threadIdx.y;
  const int q = blockIdx.x * kColumns + threadIdx.x;
  if (p >= P || q >= Q) return;

  // TODO 2: the largest cell of the window and its index in the plane. What do you begin with?
  // The part of the window that exists, in places of the tile.
  const int begin_r = max(static_cast<int>(threadIdx.y) * stride, -first_h);
  const int end_r = min(static_cast<int>(threadIdx.y) * stride + size, H - first_h);
  const int begin_c = max(static_cast<int>(threadIdx.x) * stride, -first_w);
  const int end_c = min(static_cast<int>(threadIdx.x) * stride + size, W - first_w);
  // The first cell is taken whatever it is: of a window of nothing but -infinity it is the one to name.
  float largest = -INFINITY;
  int largest_r = -1, largest_c = -1;
  for (int r = begin_r; r < end_r; ++r) {
    for (int c = begin_c; c < end_c; ++c) {
      const float cell = tile[r * tile_columns + c];
      if (cell <= largest && largest_r >= 0) continue;  // as large: the first one stays
      largest = cell;
      largest_r = r;
      largest_c = c;
    }
  }
  const int output = (plane * P + p) * Q + q;
  maxima[output] = largest;
  indices[output] = (first_h + largest_r) * W + first_w + largest_c;
  // END 2
}

// Arrays are on the device.
static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1;
  const int Q = (W + 2 * padding - size) / stride + 1;
  const dim3 blocks((Q - 1) / kColumns + 1, (P - 1) / kRows + 1, planes);
  // TODO 3: the bytes of shared memory that a block needs.
  const size_t bytes =
      ((kRows - 1) * stride + size) * ((kColumns - 1) * stride + size) * sizeof(float);
  // END 3
  max_with_index<<<blocks, dim3(kColumns, kRows), bytes>>>(input, maxima, indices, H, W, P, Q, size,
                                                           stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
