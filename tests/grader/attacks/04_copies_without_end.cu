// Attack: copies more than there is to be computed. Told: copies more than a call has any use for
#include <cuda_runtime.h>

#include <vector>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  static std::vector<char> much(std::size_t{1} << 26);
  void* device = nullptr;
  cudaMalloc(&device, much.size());
  for (int i = 0; i < 8; ++i) cudaMemcpy(device, much.data(), much.size(), cudaMemcpyHostToDevice);
  cudaFree(device);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
