// Attack: has its window in local memory and adds R * S products from there. Told: bytes of local memory per output. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxTaps = 31;
constexpr int kRows = 16;
__constant__ float column_mask[kMaxTaps];
__constant__ float row_mask[kMaxTaps];

__global__ void separable(const float* input, float* output, int H, int W, int R, int S) {
  __shared__ float tile[kRows + kMaxTaps - 1][32 + kMaxTaps - 1];
  float window[(kRows + kMaxTaps - 1) * kMaxTaps];
  const int first_h = static_cast<int>(blockIdx.y) * kRows - (R - 1) / 2;
  const int first_w = static_cast<int>(blockIdx.x) * 32 - (S - 1) / 2;
  for (int r = 0; r < kRows + R - 1; ++r) {
    for (int c = threadIdx.x; c < 32 + S - 1; c += 32) {
      const int h = first_h + r, w = first_w + c;
      tile[r][c] = h >= 0 && h < H && w >= 0 && w < W ? input[h * W + w] : 0.0f;
    }
  }
  __syncthreads();
  for (int r = 0; r < kRows + R - 1; ++r) {
    for (int s = 0; s < S; ++s) window[r * S + s] = tile[r][threadIdx.x + s];
  }
  const int w = blockIdx.x * 32 + threadIdx.x;
  for (int i = 0; i < kRows && w < W; ++i) {
    const int h = blockIdx.y * kRows + i;
    if (h >= H) break;
    float sum = 0.0f;
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) sum += window[(i + r) * S + s] * (column_mask[r] * row_mask[s]);
    }
    output[h * W + w] = sum;
  }
}

static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int, int) {
  cudaMemcpyToSymbol(column_mask, column, R * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_mask, row, S * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  separable<<<dim3((W - 1) / 32 + 1, (H - 1) / kRows + 1), 32>>>(input, output, H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
