// Stage 10, step 2: two dimensions instead of four, and a tile in shared memory.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse.
// Changed    since 1 naive: a block takes a tile of 32 rows and 32 columns out of the matrix, along its
//            rows, and puts it into the transposed matrix, along that one's rows. What is transposed is
//            the tile, in shared memory. Li et al. (SC'16), section V.A: flattening, and tiling.
// Must cost  per tile: 32 requests of 4 or 5 sectors to read and as many to write, all sectors used up
//            but for the ends of runs that do not begin on a sector; 32 shared writes and 32 shared
//            reads of one wavefront each; one barrier.
// Run        ./halo run 10_layout_transform --variant tiled
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::layout_transform {

// A tile is 32 cells high and 32 images wide: one for each lane of a warp, in both directions. As many
// rows of threads make a block, 1,024 threads.
constexpr int kTile = 32;

// [doc:kernel]
// Preconditions: kTile x kTile threads, a block for each tile.
__global__ void __launch_bounds__(kTile* kTile) tiled_kernel(const float* input,  // [rows][columns]
                                                             float* output,       // [columns][rows]
                                                             int rows, int columns) {
  // One column more than is used: a column of the tile then has its 32 floats in 32 banks. Without it
  // they lie in one, and reading a column takes 32 wavefronts instead of 1.
  __shared__ float tile[kTile][kTile + 1];  // [row][column]

  // Neighbouring blocks have neighbouring tiles of the same rows, so what a block leaves of a sector at
  // the end of a row is wanted soon. With tiles below each other that would hold for the writes.
  const int tiles_across = (columns - 1) / kTile + 1;
  const int first_row = blockIdx.x / tiles_across * kTile;
  const int first_column = blockIdx.x % tiles_across * kTile;

  // A warp has a row of the tile: lanes are neighbours in the input.
  int row = first_row + threadIdx.y;
  int column = first_column + threadIdx.x;
  if (row < rows && column < columns) {
    tile[threadIdx.y][threadIdx.x] = input[row * columns + column];
  }
  __syncthreads();  // the tile is complete

  // A warp has a column of the tile: lanes are neighbours in the output.
  row = first_row + threadIdx.x;
  column = first_column + threadIdx.y;
  if (row < rows && column < columns) {
    output[column * rows + row] = tile[threadIdx.x][threadIdx.y];
  }
}
// [/doc:kernel]

static int launch(const TransformCall& c) {
  const int rows = c.to_chwn ? c.N : c.cells;  // of the input
  const int columns = c.to_chwn ? c.cells : c.N;
  const int tiles =
      ((rows - 1) / kTile + 1) * ((columns - 1) / kTile + 1);  // each has a cell: fits
  tiled_kernel<<<tiles, dim3(kTile, kTile)>>>(c.input, c.output, rows, columns);
  return cudaGetLastError();
}

TransformKernel tiled() {
  return {.description = "a matrix transposed by tiles of 32 x 32",
          .launch = launch,
          .tiles = {{.N = kTile, .cells = kTile}}};
}

}  // namespace halo::layout_transform
