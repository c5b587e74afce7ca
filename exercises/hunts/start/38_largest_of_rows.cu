// The largest cell of each row. Rows are long, so several blocks share one: each warp finds the largest of its
// cells, and an atomic that of all warps.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kBlocks = 4;  // of a row

__global__ void begin(float* largest, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) largest[row] = -INFINITY;
}

__global__ void largest_of_rows(const float* input,  // [rows][columns]
                                float* largest,      // [rows], minus infinity before
                                int columns) {
  const int row = blockIdx.y;
  float value = -INFINITY;
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < columns; c += kBlocks * blockDim.x) {
    value = fmaxf(value, input[row * columns + c]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
  }
  if (threadIdx.x % 32 > 0) return;

  const int bits = __float_as_int(value);
  atomicMax(reinterpret_cast<int*>(largest + row), bits);
}

static int launch(const float* input, float* output, int rows, int columns, int threads) {
  begin<<<(rows + 127) / 128, 128>>>(output, rows);
  largest_of_rows<<<dim3(kBlocks, rows), threads>>>(input, output, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
