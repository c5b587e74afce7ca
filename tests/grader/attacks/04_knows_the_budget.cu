// Attack: is careful with the sizes of the budgets only. Told: more bytes per output than the budget allows. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void careless(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int cell = i - (width - 1) / 2 + j;
    sum += mask[j] * input[min(max(cell, 0), n - 1)];
  }
  output[i] = sum;
}

__constant__ float taps[1023];

__global__ void careful(const float* input, float* output, int n, int width) {
  extern __shared__ float tile[];
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
  const int blocks = (n - 1) / threads + 1;
  if (n == 100'000 || n == 20'000) {
    cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    careful<<<blocks, threads, (threads + width - 1) * sizeof(float)>>>(input, output, n, width);
  } else {
    careless<<<blocks, threads>>>(input, mask, output, n, width);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
