// Exercise 06: a separable filter, both passes in one kernel. The task: README.md beside this file.
//
// Computes   output[h][w] = sum over r, s of column_mask[r] * row_mask[s]
//                           * input[h - (R - 1) / 2 + r][w - (S - 1) / 2 + s]; cells beyond the edges are 0.
// Must cost  one kernel, R + S products per output and not R * S: with 9 + 9 taps and blocks of 16 rows
//            of 32 threads at most 16 bytes per output, and 60 requests of shared memory for 32 outputs.
// Run        ./halo try 06
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxTaps = 31;
__constant__ float column_mask[kMaxTaps];  // [R], from above to below
__constant__ float row_mask[kMaxTaps];     // [S], from left to right

// Preconditions: gridDim.y * blockDim.y >= H and gridDim.x * blockDim.x >= W; R and S are odd, 1 to kMaxTaps,
// and may be larger than the block and than the picture; dynamic shared memory holds what `launch` asks for.
__global__ void separable(const float* input,  // [H][W]
                          float* output,       // [H][W]
                          int H, int W, int R, int S) {
  // The outputs of a block need R - 1 rows and S - 1 columns of cells more than there are outputs.
  const int tile_rows = blockDim.y + R - 1;
  const int tile_columns = blockDim.x + S - 1;
  extern __shared__ float tile[];                       // [tile_rows][tile_columns]
  float* const sums = tile + tile_rows * tile_columns;  // [tile_rows][blockDim.x]

  // The place of tile[0][0] in the picture; above and left of it at the edges.
  const int first_h = static_cast<int>(blockIdx.y * blockDim.y) - (R - 1) / 2;
  const int first_w = static_cast<int>(blockIdx.x * blockDim.x) - (S - 1) / 2;

  // TODO 1: the block's threads load the tile together, each cell once, also where the halo is wider than the
  // block. What replaces a cell left of column 0? It is not the cell before it in memory.
  // A warp takes a row of the tile (where the block is 32 wide): neighbours in memory and in the tile.
  for (int r = threadIdx.y; r < tile_rows; r += blockDim.y) {
    const int h = first_h + r;
    for (int c = threadIdx.x; c < tile_columns; c += blockDim.x) {
      const int w = first_w + c;
      const bool exists = h >= 0 && h < H && w >= 0 && w < W;
      tile[r * tile_columns + c] = exists ? input[h * W + w] : 0.0f;
    }
  }
  __syncthreads();  // the tile is complete
  // END 1

  // TODO 2: sums[r][x] is the row mask over row r of the tile, for the output column x of the block. Of which
  // rows of the tile will somebody need it?
  // Of all of them: the outputs of the first row need the halo above, those of the last the halo below.
  for (int r = threadIdx.y; r < tile_rows; r += blockDim.y) {
    const float* const cells = tile + r * tile_columns + threadIdx.x;
    float sum = 0.0f;
    for (int s = 0; s < S; ++s) sum += cells[s] * row_mask[s];
    sums[r * blockDim.x + threadIdx.x] = sum;
  }
  __syncthreads();  // a column has sums that other warps made
  // END 2

  // TODO 3: the output, from the sums below each other; threads beyond the picture have none.
  const int h = blockIdx.y * blockDim.y + threadIdx.y;
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (h >= H || w >= W) return;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    sum += sums[(threadIdx.y + r) * blockDim.x + threadIdx.x] * column_mask[r];
  }
  output[h * W + w] = sum;
  // END 3
}

// Arrays are on the device; a block has `rows` rows of `columns` threads.
static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int rows, int columns) {
  cudaMemcpyToSymbol(column_mask, column, R * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_mask, row, S * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const dim3 blocks((W - 1) / columns + 1, (H - 1) / rows + 1);
  // TODO 4: the bytes of shared memory that a block needs, for the tile and for the sums.
  const size_t floats = (rows + R - 1) * (columns + S - 1) + (rows + R - 1) * columns;
  const size_t bytes = floats * sizeof(float);
  // END 4
  separable<<<blocks, dim3(columns, rows), bytes>>>(input, output, H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
