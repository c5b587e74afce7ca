// One-dimensional convolution; each cell is read once by the block that needs it, the mask is in constant
// memory.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMaxWidth = 1023;
__constant__ float taps[kMaxWidth];

__global__ void convolve(const float* input,  // [n]
                         float* output,       // [n]
                         int n, int width) {
  extern __shared__ float tile[];  // [blockDim.x + width - 1]

  const int halo = width / 2;
  const int first = blockIdx.x * blockDim.x - halo;
  const int cells = blockDim.x + width - 1;
  for (int s = threadIdx.x; s < cells; s += blockDim.x) {
    const int k = first + s;
    tile[s] = k >= 0 && k < n ? input[k] : 0.0f;
  }
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += tile[threadIdx.x + j] * taps[width - 1 - j];
  output[i] = sum;
}

// output[i] = sum over j of mask[j] * input[i - width / 2 + j]
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const size_t bytes = (threads + width - 1) * sizeof(float);
  convolve<<<(n - 1) / threads + 1, threads, bytes>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
