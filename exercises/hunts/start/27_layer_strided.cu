// A convolution layer in NCHW with stride and padding. A block has 16 x 16 outputs of one filter.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void layer(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][R]
                      float* output,         // [N][K][P][Q]
                      int C, int H, int W, int K, int R, int P, int Q, int stride, int padding) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  const int p = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z % K;
  const int n = blockIdx.z / K;
  if (q >= Q || p >= P) return;

  // The upper left corner of the window.
  const int top = (p - padding) * stride;
  const int left = (q - padding) * stride;

  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < R; ++s) {
        const int y = top + r, x = left + s;
        if (y < 0 || y >= H || x < 0 || x >= W) continue;
        sum += input[((n * C + c) * H + y) * W + x] * filters[((k * C + c) * R + r) * R + s];
      }
    }
  }
  output[((n * K + k) * P + p) * Q + q] = sum;
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int stride, int padding) {
  const int P = (H + 2 * padding - R) / stride + 1;
  const int Q = (W + 2 * padding - R) / stride + 1;
  const dim3 threads(16, 16);
  const dim3 blocks((Q - 1) / 16 + 1, (P - 1) / 16 + 1, N * K);
  layer<<<blocks, threads>>>(input, filters, output, C, H, W, K, R, P, Q, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
