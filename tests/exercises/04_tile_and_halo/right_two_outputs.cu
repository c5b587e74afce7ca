// Right in another way: two outputs per thread, a tile twice as large, the sum from the far end.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float mask_constant[1023];

__global__ void two_outputs(const float* input, float* output, int n, int width) {
  extern __shared__ float tile[];
  const int halo = width / 2;
  const int outputs = 2 * blockDim.x;
  const int start = static_cast<int>(blockIdx.x) * outputs - halo;
  for (int s = threadIdx.x; s < outputs + 2 * halo; s += blockDim.x) {
    const int k = start + s;
    tile[s] = k < 0 ? input[0] : k >= n ? input[n - 1] : input[k];
  }
  __syncthreads();
  for (int t = threadIdx.x; t < outputs; t += blockDim.x) {
    const int i = blockIdx.x * outputs + t;
    if (i >= n) continue;
    float sum = 0.0f;
    for (int j = width - 1; j >= 0; --j) sum += tile[t + j] * mask_constant[j];
    output[i] = sum;
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / (2 * threads) + 1;
  two_outputs<<<blocks, threads, (2 * threads + width - 1) * sizeof(float)>>>(input, output, n,
                                                                              width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
