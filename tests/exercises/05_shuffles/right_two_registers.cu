// Right in another way: a warp holds 64 cells from its halo's first on, two a lane, and takes each tap's cell
// from the register that has it: two shuffles a tap, no rotation.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float taps[33];

__global__ void two_registers(const float* input, float* output, int n, int width) {
  const int lane = threadIdx.x & 31;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int start = i - width / 2;
  float low = 0.0f, high = 0.0f;
  low = input[((start % n) + n) % n];
  if (lane < width - 1) high = input[(((start + 32) % n) + n) % n];
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const float a = __shfl_sync(0xffffffffu, low, (lane + j) & 31);
    const float b = __shfl_sync(0xffffffffu, high, (lane + j) & 31);
    sum = fmaf(lane + j < 32 ? a : b, taps[j], sum);
  }
  if (i < n) output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  two_registers<<<(n + threads - 1) / threads, threads>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
