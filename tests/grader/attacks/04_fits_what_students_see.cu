// Attack: has a tile for the sizes that students see. Told: a finding: out of bounds. Points: 123
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float taps[1023];

// No visible problem has more than 1,102 cells in a tile.
__global__ void filter(const float* input, float* output, int n, int width) {
  __shared__ float tile[1102];
  const int halo = (width - 1) / 2;
  const int start = static_cast<int>(blockIdx.x * blockDim.x) - halo;
  for (int s = threadIdx.x; s < static_cast<int>(blockDim.x) + 2 * halo; s += blockDim.x) {
    tile[s] = input[min(max(start + s, 0), n - 1)];
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += taps[j] * tile[threadIdx.x + j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  filter<<<(n - 1) / threads + 1, threads>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
