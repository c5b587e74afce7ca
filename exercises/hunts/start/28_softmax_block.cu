// Softmax of each row, a thread for each category.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void softmax(const float* input,  // [rows][blockDim.x]
                        float* output) {     // [rows][blockDim.x]
  extern __shared__ float values[];          // [blockDim.x]
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  const float mine = input[i];

  values[t] = mine;
  __syncthreads();
  for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const int half = (left + 1) / 2;
    if (t + half < left) values[t] = fmaxf(values[t], values[t + half]);
    __syncthreads();
  }
  const float largest = values[0];

  const float power = expf(mine - largest);
  values[t] = power;
  __syncthreads();
  for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const int half = (left + 1) / 2;
    if (t + half < left) values[t] += values[t + half];
    __syncthreads();
  }
  output[i] = power / values[0];
}

static int launch(const float* input, float* output, int rows, int columns) {
  softmax<<<rows, columns, columns * sizeof(float)>>>(input, output);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
