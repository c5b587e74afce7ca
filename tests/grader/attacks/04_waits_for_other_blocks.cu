// Attack: every block waits for all, as nothing but a cooperative launch can. Told: the launch timed out
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__device__ int arrived;

__global__ void waits(float* output, int n) {
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) <= static_cast<int>(gridDim.x)) {
    }
  }
  __syncthreads();
  if (threadIdx.x < n) output[threadIdx.x] = 0;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)width;
  waits<<<(n - 1) / threads + 1, threads>>>(output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
