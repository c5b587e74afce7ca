// A convolution layer in NCHW whose channels are spread over blocks: the image is small, and there would
// be too few blocks otherwise. Each block adds its channel's part to the output.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void add_channel(const float* input,    // [N][C][H][W]
                            const float* filters,  // [K][C][R][R]
                            float* output,         // [N][K][P][Q]
                            int outputs, int C, int H, int W, int K, int R, int P, int Q,
                            int stride, int padding) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int c = blockIdx.y;
  if (i >= outputs) return;

  const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
  const float* image = input + (n * C + c) * H * W;
  const float* filter = filters + (k * C + c) * R * R;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    for (int s = 0; s < R; ++s) {
      const int y = p * stride - padding + r;
      const int x = q * stride - padding + s;
      if (y >= 0 && y < H && x >= 0 && x < W) sum += image[y * W + x] * filter[r * R + s];
    }
  }
  atomicAdd(&output[i], sum);
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int stride, int padding) {
  const int P = (H + 2 * padding - R) / stride + 1;
  const int Q = (W + 2 * padding - R) / stride + 1;
  const int outputs = N * K * P * Q;
  cudaMemsetAsync(output, 0, outputs);
  add_channel<<<dim3((outputs - 1) / 128 + 1, C), 128>>>(input, filters, output, outputs, C, H, W,
                                                         K, R, P, Q, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
