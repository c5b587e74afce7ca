// Maximum pooling in NCHW. A window that reaches beyond an edge is cut off there.
#include <cuda_runtime.h>

#include <cfloat>

#include "common/exercise/exercise.h"

__global__ void max_pool(const float* input,  // [planes][H][W]
                         float* output,       // [planes][P][Q]
                         int planes, int H, int W, int P, int Q, int window, int stride,
                         int padding) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * P * Q) return;

  const int q = i % Q;
  const int p = i / Q % P;
  const float* plane = input + i / (P * Q) * H * W;

  const int top = max(p * stride - padding, 0);
  const int left = max(q * stride - padding, 0);
  const int bottom = min(p * stride - padding + window, H);
  const int right = min(q * stride - padding + window, W);

  float largest = FLT_MIN;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) largest = fmaxf(largest, plane[y * W + x]);
  }
  output[i] = largest;
}

static int launch(const float* input, float* output, int N, int C, int H, int W, int window,
                  int stride, int padding) {
  const int P = (H + 2 * padding - window) / stride + 1;
  const int Q = (W + 2 * padding - window) / stride + 1;
  const int threads = 128;
  const int blocks = (N * C * P * Q + threads - 1) / threads;
  max_pool<<<blocks, threads>>>(input, output, N * C, H, W, P, Q, window, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
