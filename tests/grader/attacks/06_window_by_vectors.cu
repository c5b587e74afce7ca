// Attack: adds R * S products, whose cells it reads four at a time. Told: shared-memory wavefronts. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxTaps = 31;
__constant__ float column_mask[kMaxTaps];
__constant__ float row_mask[kMaxTaps];

__global__ void window(const float* input, float* output, int H, int W, int R, int S) {
  const int tile_rows = blockDim.y + R - 1;
  const int tile_columns = (blockDim.x + S - 1 + 7) / 4 * 4;
  extern __shared__ float4 quads[];
  float* const tile = reinterpret_cast<float*>(quads);
  const int first_h = static_cast<int>(blockIdx.y * blockDim.y) - (R - 1) / 2;
  const int first_w = static_cast<int>(blockIdx.x * blockDim.x) - (S - 1) / 2;
  for (int r = threadIdx.y; r < tile_rows; r += blockDim.y) {
    const int h = first_h + r;
    for (int c = threadIdx.x; c < tile_columns; c += blockDim.x) {
      const int w = first_w + c;
      const bool exists = h >= 0 && h < H && w >= 0 && w < W;
      tile[r * tile_columns + c] = exists ? input[h * W + w] : 0.0f;
    }
  }
  __syncthreads();
  const int h = blockIdx.y * blockDim.y + threadIdx.y;
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (h >= H || w >= W) return;
  const int begin = threadIdx.x / 4 * 4, shift = threadIdx.x % 4;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    float of_row = 0.0f;
    for (int s = 0; s < S + shift; s += 4) {
      const float4 four = quads[((threadIdx.y + r) * tile_columns + begin + s) / 4];
      const float cells[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int tap = s + k - shift;
        if (tap >= 0 && tap < S) of_row += cells[k] * row_mask[tap];
      }
    }
    sum += of_row * column_mask[r];
  }
  output[h * W + w] = sum;
}

static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int rows, int columns) {
  cudaMemcpyToSymbol(column_mask, column, R * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_mask, row, S * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const dim3 blocks((W - 1) / columns + 1, (H - 1) / rows + 1);
  const size_t bytes = sizeof(float) * (rows + R - 1) * ((columns + S - 1 + 7) / 4 * 4);
  window<<<blocks, dim3(columns, rows), bytes>>>(input, output, H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
