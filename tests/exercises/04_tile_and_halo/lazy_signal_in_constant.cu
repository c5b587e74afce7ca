// Lazy. Fails: each cell is read from global memory once per block
// No tile: the signal goes through constant memory, a part of it with each launch.
#include <cuda_runtime.h>

#include <algorithm>

#include "common/exercise/exercise.h"

constexpr int kMaxMaskWidth = 1023;
constexpr int kPart = 12'800;
__constant__ float mask_constant[kMaxMaskWidth];
__constant__ float cells[kPart + 2 * kMaxMaskWidth];

__global__ void of_part(float* output, int first, int begin, int n, int width, int threads) {
  const int i = first + blockIdx.x * threads + threadIdx.x;
  if (i >= min(first + kPart, n)) return;
  const int halo = (width - 1) / 2;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    sum += cells[min(max(i - halo + j, 0), n - 1) - begin] * mask_constant[j];
  }
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  for (int first = 0; first < n; first += kPart) {
    const int begin = std::max(first - width, 0);
    const int end = std::min(first + kPart + width, n);
    cudaMemcpyToSymbol(cells, input + begin, (end - begin) * sizeof(float), 0,
                       cudaMemcpyDeviceToDevice);
    const int outputs = std::min(kPart, n - first);
    of_part<<<(outputs - 1) / threads + 1, threads>>>(output, first, begin, n, width, threads);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
