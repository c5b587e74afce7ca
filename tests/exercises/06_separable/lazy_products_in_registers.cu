// Lazy. Fails: R + S products per output, and not R * S
// One filter of R * S taps: a thread has four outputs below each other, so that a cell that it reads serves several.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float column_mask[31], row_mask[31];
__global__ void direct(const float* input, float* output, int H, int W, int R, int S, int rows) {
  extern __shared__ float tile[];
  const int tr = rows + R - 1, tc = blockDim.x + S - 1;
  const int h0 = (int)(blockIdx.y * rows) - R / 2, w0 = (int)(blockIdx.x * blockDim.x) - S / 2;
  for (int r = threadIdx.y; r < tr; r += blockDim.y)
    for (int c = threadIdx.x; c < tc; c += blockDim.x)
      tile[r * tc + c] =
          h0 + r >= 0 && h0 + r < H && w0 + c >= 0 && w0 + c < W ? input[(h0 + r) * W + w0 + c] : 0;
  __syncthreads();
  constexpr int kOut = 4;
  for (int first = threadIdx.y * kOut; first < rows; first += blockDim.y * kOut) {
    float sums[kOut] = {};
    for (int r = 0; r < R + kOut - 1; ++r) {
      if (first + r >= tr) break;
      for (int s = 0; s < S; ++s) {
        const float cell = tile[(first + r) * tc + threadIdx.x + s];
#pragma unroll
        for (int o = 0; o < kOut; ++o)
          if (r - o >= 0 && r - o < R) sums[o] += cell * column_mask[r - o] * row_mask[s];
      }
    }
#pragma unroll
    for (int o = 0; o < kOut; ++o) {
      const int h = blockIdx.y * rows + first + o, w = blockIdx.x * blockDim.x + threadIdx.x;
      if (first + o < rows && h < H && w < W) output[h * W + w] = sums[o];
    }
  }
}

static int launch(const float* input, const float* c, const float* r, float* output, int H, int W,
                  int R, int S, int rows, int columns) {
  cudaMemcpyToSymbol(column_mask, c, R * 4, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_mask, r, S * 4, 0, cudaMemcpyDeviceToDevice);
  direct<<<dim3((W - 1) / columns + 1, (H - 1) / rows + 1), dim3(columns, (rows - 1) / 4 + 1),
           (rows + R - 1) * (columns + S - 1) * 4>>>(input, output, H, W, R, S, rows);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
