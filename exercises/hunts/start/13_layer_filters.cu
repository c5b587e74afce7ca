// A convolution layer in NCHW, a thread for each output.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void layer(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][R]
                      float* output,         // [N][K][P][Q]
                      int N, int C, int H, int W, int K, int R, int P, int Q, int stride,
                      int padding) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * P * Q) return;

  const int q = i % Q;
  const int p = i / Q % P;
  const int k = i / (P * Q) % K;
  const int n = i / (K * P * Q);

  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    const float* image = input + (n * C + c) * H * W;
    const float* filter = filters + (c * K + k) * R * R;
    for (int r = 0; r < R; ++r) {
      const int y = p * stride - padding + r;
      if (y < 0 || y >= H) continue;
      for (int s = 0; s < R; ++s) {
        const int x = q * stride - padding + s;
        if (x >= 0 && x < W) sum += image[y * W + x] * filter[r * R + s];
      }
    }
  }
  output[i] = sum;
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int stride, int padding) {
  const int P = (H + 2 * padding - R) / stride + 1;
  const int Q = (W + 2 * padding - R) / stride + 1;
  const int outputs = N * K * P * Q;
  layer<<<(outputs + 127) / 128, 128>>>(input, filters, output, N, C, H, W, K, R, P, Q, stride,
                                        padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
