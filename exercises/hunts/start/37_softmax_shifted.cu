// Softmax of each row, a warp for each. A constant that all exponents have in common cancels, so the row is
// shifted first.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void softmax(const float* input,  // [rows][columns]
                        float* output,       // [rows][columns]
                        int columns) {
  const int lane = threadIdx.x;
  const float* row = input + blockIdx.x * columns;

  float shift = 0.0f;
  for (int c = lane; c < columns; c += 32) shift += row[c] / columns;
  for (int offset = 16; offset > 0; offset /= 2) {
    shift += __shfl_xor_sync(0xffffffff, shift, offset);
  }

  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum += expf(row[c] - shift);
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }

  for (int c = lane; c < columns; c += 32) {
    output[blockIdx.x * columns + c] = expf(row[c] - shift) / sum;
  }
}

static int launch(const float* input, float* output, int rows, int columns) {
  softmax<<<rows, 32>>>(input, output, columns);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
