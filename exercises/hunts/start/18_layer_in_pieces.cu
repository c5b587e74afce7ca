// A convolution layer in NCHW. A block has a row of outputs of one filter; channel by channel, the rows of
// the image that it needs go through shared memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 64;

__global__ void layer(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][R]
                      float* output,         // [N][K][P][Q]
                      int C, int H, int W, int K, int R, int P, int Q, int stride, int padding) {
  extern __shared__ float rows[];  // [R][W + 2 * padding], with the ghost cells
  const int width = W + 2 * padding;
  const int q = blockIdx.x * kThreads + threadIdx.x;
  const int p = blockIdx.y;
  const int k = blockIdx.z % K;
  const int n = blockIdx.z / K;

  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    const float* image = input + (n * C + c) * H * W;
    const float* filter = filters + (k * C + c) * R * R;
    for (int t = threadIdx.x; t < R * width; t += kThreads) {
      const int y = p * stride - padding + t / width;
      const int x = t % width - padding;
      rows[t] = y >= 0 && y < H && x >= 0 && x < W ? image[y * W + x] : 0.0f;
    }
    __syncthreads();
    for (int r = 0; q < Q && r < R; ++r) {
      for (int s = 0; s < R; ++s) sum += rows[r * width + q * stride + s] * filter[r * R + s];
    }
  }
  if (q < Q) output[((n * K + k) * P + p) * Q + q] = sum;
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int stride, int padding) {
  const int P = (H + 2 * padding - R) / stride + 1;
  const int Q = (W + 2 * padding - R) / stride + 1;
  const dim3 blocks((Q - 1) / kThreads + 1, P, N * K);
  const size_t bytes = R * (W + 2 * padding) * sizeof(float);
  layer<<<blocks, kThreads, bytes>>>(input, filters, output, C, H, W, K, R, P, Q, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
