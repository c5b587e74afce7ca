// Attack: reads its cells as a texture, which has no sectors. Told: texture object
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void naive(cudaTextureObject_t input, const float* mask, float* output, int n,
                      int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += tex1Dfetch<float>(input, min(max(i - (width - 1) / 2 + j, 0), n - 1)) * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear = {const_cast<float*>(input), cudaCreateChannelDesc<float>(),
                       n * sizeof(float)};
  cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &memory, &how, nullptr);
  naive<<<(n - 1) / threads + 1, threads>>>(texture, mask, output, n, width);
  cudaDestroyTextureObject(texture);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
