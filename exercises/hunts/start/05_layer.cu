// A convolution layer in NCHW. A thread keeps its place in the image and goes through all filters.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void layer(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][R]
                      float* output,         // [N][K][P][Q]
                      int C, int H, int W, int K, int R, int P, int Q, int stride, int padding) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  const int p = blockIdx.y;
  const int n = blockIdx.z;
  if (q >= Q) return;

  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    for (int c = 0; c < C; ++c) {
      const float* image = input + (n * C + c) * H * W;
      const float* filter = filters + (k * C + c) * R * R;
      for (int r = 0; r < R; ++r) {
        const int y = p * stride - padding + r;
        for (int s = 0; s < R; ++s) {
          const int x = q * stride - padding + s;
          if (y >= 0 && y < H && x >= 0 && x < W) sum += image[y * W + x] * filter[r * R + s];
        }
      }
    }
    output[((n * K + k) * P + p) * Q + q] = sum;
  }
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int stride, int padding) {
  const int P = (H + 2 * padding - R) / stride + 1;
  const int Q = (W + 2 * padding - R) / stride + 1;
  const dim3 blocks((Q + 63) / 64, P, N);
  layer<<<blocks, 64>>>(input, filters, output, C, H, W, K, R, P, Q, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
