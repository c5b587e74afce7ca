// Attack: computes on the host, so that no kernel costs anything. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)threads;
  std::vector<float> cells(n), taps(width), sums(n);
  cudaMemcpy(cells.data(), input, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(taps.data(), mask, width * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < width; ++j) {
      sums[i] += taps[j] * cells[std::clamp(i - (width - 1) / 2 + j, 0, n - 1)];
    }
  }
  return cudaMemcpy(output, sums.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}

halo::Exercise halo::exercise() { return launch; }
