// A batch from CHWN to NCHW: seen as two-dimensional, the transposition of [pixels][images]. A block takes
// 32 pixels and handles 32 images every time.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTile = 32;

__global__ void to_nchw(const float* in,  // [pixels][images]
                        float* out,       // [images][pixels]
                        int pixels, int images) {
  __shared__ float sh[kTile][kTile + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int first = blockIdx.x * kTile;

  for (int i = 0; i < images / kTile; ++i) {
    const int pixel = first + ty;
    const int image = i * kTile + tx;
    if (pixel < pixels && image < images) sh[ty][tx] = in[pixel * images + image];
    __syncthreads();

    const int to_image = i * kTile + ty;
    const int to_pixel = first + tx;
    if (to_image < images && to_pixel < pixels) out[to_image * pixels + to_pixel] = sh[tx][ty];
    __syncthreads();
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  to_nchw<<<(rows - 1) / kTile + 1, dim3(kTile, kTile)>>>(input, output, rows, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
