// One-dimensional convolution. Each thread asks once which cells its mask reaches, so that there is no
// question in the loop.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void convolve(const float* input,  // [n]
                         const float* mask,   // [width]
                         float* output,       // [n]
                         int n, int width) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;

  const int halo = width / 2;
  const int first = max(i - halo, 0);
  const int last = min(i + halo, n - 1);

  float sum = 0.0f;
  for (int k = first; k <= last; ++k) sum += input[k] * mask[k - i + halo];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  convolve<<<(n + threads - 1) / threads, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
