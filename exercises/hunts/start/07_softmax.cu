// Softmax of each row: a block has a row, and goes over it three times.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 128;

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float plus(float a, float b) { return a + b; }

// The reduction over the block, for all its threads.
template <float (*op)(float, float)>
__device__ float reduce(float value) {
  __shared__ float parts[kThreads];
  __syncthreads();  // the one before has been read
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] = op(parts[threadIdx.x], parts[threadIdx.x + s]);
    __syncthreads();
  }
  return parts[0];
}

__global__ void softmax(const float* input,  // [rows][columns]
                        float* output,       // [rows][columns]
                        int columns) {
  const float* row = input + blockIdx.x * columns;
  float* result = output + blockIdx.x * columns;

  float mine = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += kThreads) mine = fmaxf(mine, row[c]);
  const float largest = reduce<larger>(mine);

  mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) mine += expf(row[c]) / expf(largest);
  const float sum = reduce<plus>(mine);

  for (int c = threadIdx.x; c < columns; c += kThreads) {
    result[c] = expf(row[c]) / expf(largest) / sum;
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  softmax<<<rows, kThreads>>>(input, output, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
