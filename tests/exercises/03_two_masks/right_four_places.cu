// Right in another way: four places a thread, a block's width apart, blocks of 128; three loops, so that the
// part that both masks have asks nothing.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float taps[1024];
constexpr int kThreads = 128;
constexpr int kPlaces = 4;

__device__ float cell_at(const float* input, int n, int k) {
  return k >= 0 && k < n ? input[k] : 0.0f;
}

// sums[] of the wider mask, which begins at taps[wide]; the narrower one at taps[narrow].
__global__ void four_places(const float* input, float* wide_output, float* narrow_output, int n,
                            int wide, int wide_halo, int narrow, int narrow_halo) {
  for (int r = 0; r < kPlaces; ++r) {
    const int i = (blockIdx.x * kPlaces + r) * kThreads + threadIdx.x;
    if (i >= n) return;
    float a = 0, b = 0;
    int d = -wide_halo;
    for (; d < -narrow_halo; ++d) a += cell_at(input, n, i + d) * taps[wide + wide_halo + d];
    for (; d <= narrow_halo; ++d) {
      const float cell = cell_at(input, n, i + d);
      a += cell * taps[wide + wide_halo + d];
      b += cell * taps[narrow + narrow_halo + d];
    }
    for (; d <= wide_halo; ++d) a += cell_at(input, n, i + d) * taps[wide + wide_halo + d];
    wide_output[i] = a;
    narrow_output[i] = b;
  }
}

static int launch(const float* input, const float* smooth_mask, const float* slope_mask,
                  float* smooth, float* slope, int n, int a, int b, int) {
  cudaMemcpyToSymbol(taps, smooth_mask, a * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(taps, slope_mask, b * sizeof(float), a * sizeof(float),
                     cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / (kThreads * kPlaces) + 1;
  if (a >= b) {
    four_places<<<blocks, kThreads>>>(input, smooth, slope, n, 0, a / 2, a, b / 2);
  } else {
    four_places<<<blocks, kThreads>>>(input, slope, smooth, n, a, b / 2, 0, a / 2);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
