// A batch from CHWN to NCHW: seen as two-dimensional, the transposition of [pixels][images]. A block takes
// 32 pixels and goes through all images, 32 at a time.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void to_nchw(const float* in,  // [pixels][images]
                        float* out,       // [images][pixels]
                        int pixels, int images) {
  __shared__ float sh[32][33];  // padding of one float
  const int tx = threadIdx.x, ty = threadIdx.y;

  const int row_length = gridDim.x * blockDim.x;  // of NCHW
  const int first = blockIdx.x * 32;
  for (int i = 0; i < images; i += 32) {
    if (first + ty < pixels && i + tx < images) sh[ty][tx] = in[(first + ty) * images + i + tx];
    __syncthreads();
    if (i + ty < images && first + tx < pixels) {
      out[(i + ty) * row_length + first + tx] = sh[tx][ty];
    }
    __syncthreads();
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  to_nchw<<<(rows + 31) / 32, dim3(32, 32)>>>(input, output, rows, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
