// Attack: an array on the device that is larger than the grader's memory. Told: more than 2 GB
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__device__ float huge[std::size_t{1} << 36];

__global__ void touches(float* output, int n) {
  for (std::size_t i = threadIdx.x; i < sizeof huge / sizeof(float); i += blockDim.x * 1024)
    huge[i] = 1;
  if (threadIdx.x < n) output[threadIdx.x] = huge[threadIdx.x];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)width;
  touches<<<1, threads>>>(output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
