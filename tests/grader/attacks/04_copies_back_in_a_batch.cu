// Attack: copies results back among others, by one call for several copies. Told: copies device memory to the host
#include <cuda_runtime.h>

#include <vector>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)mask, (void)width, (void)threads, (void)output;
  std::vector<float> cells(n);
  void* to[] = {cells.data()};
  const void* from[] = {input};
  std::size_t sizes[] = {n * sizeof(float)};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first[] = {0};
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  return cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, first, 1, stream);
}

halo::Exercise halo::exercise() { return launch; }
