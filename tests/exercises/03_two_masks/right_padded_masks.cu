// Right in another way: both masks are made equally wide with zeros around them, interleaved tap by tap in the
// constant array, so that no question is left in the loop.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float2 pairs[1024];
__device__ float2 made[1024];

__global__ void make_pairs(const float* a_mask, const float* b_mask, int a, int b) {
  const int j = threadIdx.x - max(a, b) / 2;
  float2 pair = {0, 0};
  if (abs(j) <= a / 2) pair.x = a_mask[a / 2 + j];
  if (abs(j) <= b / 2) pair.y = b_mask[b / 2 + j];
  made[threadIdx.x] = pair;
}

__global__ void padded_masks(const float* input, float* smooth, float* slope, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 sum = {0, 0};
  for (int j = 0; j < width; ++j) {
    const int k = i - width / 2 + j;
    const float cell = k >= 0 && k < n ? input[k] : 0.0f;
    const float2 pair = pairs[j];
    sum.x += cell * pair.x;
    sum.y += cell * pair.y;
  }
  smooth[i] = sum.x;
  slope[i] = sum.y;
}

static int launch(const float* input, const float* smooth_mask, const float* slope_mask,
                  float* smooth, float* slope, int n, int a, int b, int threads) {
  const int width = a > b ? a : b;
  make_pairs<<<1, width>>>(smooth_mask, slope_mask, a, b);
  void* from = nullptr;
  cudaGetSymbolAddress(&from, made);
  cudaMemcpyToSymbol(pairs, from, width * sizeof(float2), 0, cudaMemcpyDeviceToDevice);
  padded_masks<<<(n - 1) / threads + 1, threads>>>(input, smooth, slope, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
