// Right in another way: columns first, so that the sums between are as wide as the tile and no higher than the
// block; tile and taps are loaded by all threads one after the other, and both masks are in shared memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void columns_first(const float* input, const float* column, const float* row,
                              float* output, int H, int W, int R, int S) {
  extern __shared__ float shared[];
  const int rows = blockDim.y, columns = blockDim.x;
  const int width = columns + S - 1, height = rows + R - 1;
  float* const taps_down = shared;
  float* const taps_across = taps_down + R;
  float* const sums = taps_across + S;      // [rows][width]
  float* const tile = sums + rows * width;  // [height][width]
  const int thread = threadIdx.y * columns + threadIdx.x, threads = rows * columns;
  for (int j = thread; j < R; j += threads) taps_down[j] = column[j];
  for (int j = thread; j < S; j += threads) taps_across[j] = row[j];
  const int h0 = static_cast<int>(blockIdx.y) * rows - R / 2;
  const int w0 = static_cast<int>(blockIdx.x) * columns - S / 2;
  for (int k = thread; k < height * width; k += threads) {
    const int h = h0 + k / width, w = w0 + k % width;
    tile[k] = h < 0 || w < 0 || h >= H || w >= W ? 0.0f : input[h * W + w];
  }
  __syncthreads();
  for (int k = thread; k < rows * width; k += threads) {
    float sum = 0.0f;
    for (int r = R - 1; r >= 0; --r) sum = fmaf(taps_down[r], tile[k + r * width], sum);
    sums[k] = sum;
  }
  __syncthreads();
  const int h = h0 + R / 2 + threadIdx.y, w = w0 + S / 2 + threadIdx.x;
  if (h < H && w < W) {
    float sum = 0.0f;
    for (int s = 0; s < S; ++s) {
      sum = fmaf(taps_across[s], sums[threadIdx.y * width + threadIdx.x + s], sum);
    }
    output[h * W + w] = sum;
  }
}

static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int rows, int columns) {
  const dim3 blocks((W + columns - 1) / columns, (H + rows - 1) / rows);
  const size_t floats = R + S + (2 * rows + R - 1) * (columns + S - 1);
  columns_first<<<blocks, dim3(columns, rows), floats * sizeof(float)>>>(input, column, row, output,
                                                                         H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
