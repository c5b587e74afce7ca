// Attack: reads the columns of its tile by atomics, whose conflicts are not counted. Told: bank conflicts. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTile = 32;

__global__ void tile_transform(const float* input, const float* bias, float* output, int N,
                               int cells, int plane) {
  __shared__ float tile[kTile][kTile];
  const int tiles_across = (N - 1) / kTile + 1;
  const int first_cell = blockIdx.x / tiles_across * kTile,
            first_image = blockIdx.x % tiles_across * kTile;
  for (int row = threadIdx.y; row < kTile; row += blockDim.y) {
    const int cell = first_cell + row, n = first_image + threadIdx.x;
    if (cell < cells && n < N) tile[row][threadIdx.x] = input[cell * N + n];
  }
  __syncthreads();
  const int cell = first_cell + threadIdx.x;
  if (cell >= cells) return;
  const float own_bias = bias[cell / plane];
  for (int row = threadIdx.y; row < kTile; row += blockDim.y) {
    const int n = first_image + row;
    if (n < N)
      output[n * cells + cell] = fmaxf(atomicAdd(&tile[threadIdx.x][row], 0.0f) + own_bias, 0.0f);
  }
}

static int launch(const float* input, const float* bias, float* output, int N, int C, int H,
                  int W) {
  const int cells = C * H * W;
  tile_transform<<<((cells - 1) / kTile + 1) * ((N - 1) / kTile + 1), dim3(kTile, 8)>>>(
      input, bias, output, N, cells, H * W);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
