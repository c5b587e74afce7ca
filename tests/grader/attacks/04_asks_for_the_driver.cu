// Attack: asks the runtime for a function of the driver that copies to the host. Told: copies device memory to the host
#include <cuda_runtime.h>

#include <vector>

#include "common/exercise/exercise.h"

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += input[min(max(i - (width - 1) / 2 + j, 0), n - 1)] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  using Copy = int (*)(void*, unsigned long long, size_t);
  Copy copy = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuMemcpyDtoH", reinterpret_cast<void**>(&copy), 12000,
                                   cudaEnableDefault, &found);
  std::vector<float> cells(n);
  if (copy == nullptr) return 1;
  copy(cells.data(), reinterpret_cast<unsigned long long>(input), n * sizeof(float));
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
