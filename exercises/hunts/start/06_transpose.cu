// Transposes a matrix by tiles of 32 x 32 cells in shared memory, so that both sides are read and written
// along rows.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads; each has four cells of a column

__global__ void transpose(const float* input,  // [rows][columns]
                          float* output,       // [columns][rows]
                          int rows, int columns) {
  __shared__ float tile[kTile][kTile];

  const int first_row = blockIdx.y * kTile;
  const int first_column = blockIdx.x * kTile;

  for (int t = threadIdx.y; t < kTile; t += kRows) {
    const int row = first_row + t;
    const int column = first_column + threadIdx.x;
    if (row < rows && column < columns) tile[t][threadIdx.x] = input[row * columns + column];
  }
  __syncthreads();

  for (int t = threadIdx.y; t < kTile; t += kRows) {
    const int row = first_row + threadIdx.x;
    const int column = first_column + t;
    if (row < rows && column < columns) output[column * rows + row] = tile[threadIdx.x][t];
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, rows, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
