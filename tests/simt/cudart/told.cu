// What a report can tell: counters of two lines, a race, a value that nobody wrote, memory that is not
// freed, a line and a way of a branch that no thread took.
#include <cuda_runtime.h>

__constant__ float factors[2] = {1, 2};

template <int width>
__global__ void tiled(const float* input, float* output, int n) {
  __shared__ float tile[width];
  const int t = threadIdx.x;
  const int i = blockIdx.x * width + t;
  tile[t] = input[i] * factors[blockIdx.x % 2];  // LOAD
  if (i < n) {
    output[i] = tile[width - 1 - t];  // STORE
  } else {
    atomicAdd(&output[0], 1.0f);  // NEVER
  }
}

__global__ void scale(double* numbers) {
  numbers[threadIdx.x] *= 3.0;  // DOUBLE
}

// Looked at when the module is read, as all of it is.
__global__ void copied(const float* input, float* output) {
  for (int round = 0; round < 1000; ++round) output[round] = 2 * input[round];
}

int main() {
  float *input, *output;
  cudaMalloc(&input, 128 * sizeof(float));
  cudaMalloc(&output, 128 * sizeof(float));
  cudaMemset(input, 0, 128 * sizeof(float));
  double* numbers;
  cudaMalloc(&numbers, 32 * sizeof(double));
  tiled<64><<<2, 64>>>(input, output, 128);
  scale<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  cudaFree(input);
  cudaFree(numbers);
}
