// Right in another way: no padding. Image n of cell r lies in column n ^ r, so that rows and columns of the tile
// both meet 32 banks; 1,024 threads, and the bias is added before the tile.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void swizzled(const float* input, const float* bias, float* output, int N, int cells,
                         int plane) {
  __shared__ float tile[32 * 32];
  const int x = threadIdx.x, y = threadIdx.y;
  int cell = blockIdx.x * 32 + y, n = blockIdx.y * 32 + x;
  if (cell < cells && n < N) {
    tile[32 * y + (x ^ y)] = fmaxf(0.0f, input[cell * N + n] + bias[cell / plane]);
  }
  __syncthreads();
  cell = blockIdx.x * 32 + x, n = blockIdx.y * 32 + y;
  if (cell < cells && n < N) output[n * cells + cell] = tile[32 * x + (y ^ x)];
}

static int launch(const float* input, const float* bias, float* output, int N, int C, int H,
                  int W) {
  const dim3 blocks((C * H * W + 31) / 32, (N + 31) / 32);
  swizzled<<<blocks, dim3(32, 32)>>>(input, bias, output, N, C * H * W, H * W);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
