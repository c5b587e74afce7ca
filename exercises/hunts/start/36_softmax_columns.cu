// Softmax of each row, a thread for each category; the reductions add the upper half to the lower, until one
// is left.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

// Of count cells, for all threads of the block.
__device__ float reduce(float* cells, int count, bool largest) {
  while (count > 1) {
    const int half = count / 2;
    if (threadIdx.x < half) {
      const float other = cells[threadIdx.x + half];
      cells[threadIdx.x] = largest ? fmaxf(cells[threadIdx.x], other) : cells[threadIdx.x] + other;
    }
    __syncthreads();
    count = half;
  }
  const float result = cells[0];
  __syncthreads();  // cells may be used again
  return result;
}

__global__ void softmax(const float* input,  // [rows][columns]
                        float* output,       // [rows][columns]
                        int columns) {
  extern __shared__ float cells[];  // [columns]
  const int i = blockIdx.x * columns + threadIdx.x;

  cells[threadIdx.x] = input[i];
  __syncthreads();
  const float largest = reduce(cells, columns, true);

  const float power = expf(input[i] - largest);
  cells[threadIdx.x] = power;
  __syncthreads();
  output[i] = power / reduce(cells, columns, false);
}

static int launch(const float* input, float* output, int rows, int columns) {
  softmax<<<rows, columns, columns * sizeof(float)>>>(input, output, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
