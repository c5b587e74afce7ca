// Softmax of each row, kept in shared memory by the block that has it.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 128;

__global__ void softmax(const float* mat,  // [rows][columns]
                        float* out,        // [rows][columns]
                        int columns) {
  extern __shared__ float in_tile[];    // [columns]
  __shared__ float tmp_tile[kThreads];  // for the reductions
  const int tidx = threadIdx.x;

  float largest = -INFINITY;
  for (int i = tidx; i < columns; i += kThreads) {
    in_tile[i] = mat[blockIdx.x * columns + tidx];
    largest = fmaxf(largest, in_tile[i]);
  }
  tmp_tile[tidx] = largest;
  __syncthreads();
  for (int t = 0; t < kThreads; ++t) largest = fmaxf(largest, tmp_tile[t]);
  __syncthreads();  // all have read it

  float sum = 0.0f;
  for (int i = tidx; i < columns; i += kThreads) {
    in_tile[i] = expf(in_tile[i] - largest);
    sum += in_tile[i];
  }
  tmp_tile[tidx] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int t = 0; t < kThreads; ++t) sum += tmp_tile[t];

  for (int i = tidx; i < columns; i += kThreads) {
    out[blockIdx.x * columns + i] = in_tile[i] / sum;
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  softmax<<<rows, kThreads, columns * sizeof(float)>>>(input, output, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
