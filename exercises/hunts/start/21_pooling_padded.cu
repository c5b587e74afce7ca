// Maximum pooling in NCHW, a thread for each output. Cells of the padding take no part.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

struct Shape {
  int N, C, H, W, P, Q;
  int window, stride, padding;
};

// The cell (y, x) of a plane, also beyond its edges.
__device__ float cell(const float* plane, const Shape& s, int y, int x) {
  const bool inside = y >= 0 && y < s.H && x >= 0 && x < s.W;
  return inside ? plane[y * s.W + x] : 0.0f;
}

__global__ void max_pool(const float* input,  // [N][C][H][W]
                         float* output,       // [N][C][P][Q]
                         Shape s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.N * s.C * s.P * s.Q) return;

  const float* plane = input + i / (s.P * s.Q) * s.H * s.W;
  const int top = i / s.Q % s.P * s.stride - s.padding;
  const int left = i % s.Q * s.stride - s.padding;

  float largest = cell(plane, s, top, left);
  for (int y = 0; y < s.window; ++y) {
    for (int x = 0; x < s.window; ++x) {
      largest = fmaxf(largest, cell(plane, s, top + y, left + x));
    }
  }
  output[i] = largest;
}

static int launch(const float* input, float* output, int N, int C, int H, int W, int window,
                  int stride, int padding) {
  const int P = (H + 2 * padding - window) / stride + 1;
  const int Q = (W + 2 * padding - window) / stride + 1;
  const Shape shape{N, C, H, W, P, Q, window, stride, padding};
  max_pool<<<(N * C * P * Q - 1) / 256 + 1, 256>>>(input, output, shape);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
