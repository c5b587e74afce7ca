// Convolution of a picture, zero beyond its edges. A thread has one pixel of the output.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTileWidth = 32;
constexpr int kTileHeight = 8;

__global__ void convolve(const float* input,   // [H][W]
                         const float* filter,  // [R][S]
                         float* output,        // [H][W]
                         int H, int W, int R, int S) {
  const int x = blockIdx.x * kTileWidth + threadIdx.x;
  const int y = blockIdx.y * kTileHeight + threadIdx.y;
  if (x >= W || y >= H) return;

  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    const int row = y + r - R / 2;
    if (row < 0 || row >= H) continue;
    for (int s = 0; s < S; ++s) {
      const int column = x + s - S / 2;
      if (column < 0 || column >= W) continue;
      sum += input[row * H + column] * filter[r * S + s];
    }
  }
  output[y * W + x] = sum;
}

static int launch(const float* input, const float* filter, float* output, int H, int W, int R,
                  int S) {
  const dim3 threads(kTileWidth, kTileHeight);
  const dim3 blocks((W + kTileWidth - 1) / kTileWidth, (H + kTileHeight - 1) / kTileHeight);
  convolve<<<blocks, threads>>>(input, filter, output, H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
