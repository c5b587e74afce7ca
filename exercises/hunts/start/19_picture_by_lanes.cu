// Convolution of a picture, zero beyond its edges. A block has a tile of 16 x 16 pixels.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void convolve(const float* input,   // [H][W]
                         const float* filter,  // [R][S]
                         float* output,        // [H][W]
                         int H, int W, int R, int S) {
  const int y = blockIdx.y * blockDim.x + threadIdx.x;
  const int x = blockIdx.x * blockDim.y + threadIdx.y;
  if (y >= H || x >= W) return;

  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    for (int s = 0; s < S; ++s) {
      const int i = y - R / 2 + r;
      const int j = x - S / 2 + s;
      if (i >= 0 && i < H && j >= 0 && j < W) sum += input[i * W + j] * filter[r * S + s];
    }
  }
  output[y * W + x] = sum;
}

static int launch(const float* input, const float* filter, float* output, int H, int W, int R,
                  int S) {
  const dim3 threads(16, 16);
  const dim3 blocks((W + 15) / 16, (H + 15) / 16);
  convolve<<<blocks, threads>>>(input, filter, output, H, W, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
