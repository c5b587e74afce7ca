// Attack: names a function of the host where a kernel is asked for. Told: this is a function of the host
#include <cuda_runtime.h>

#include <algorithm>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

static void compute(const float* input, const float* mask, float* output, int n, int width) {
  for (int i = 0; i < n; ++i) {
    output[i] = 0.0f;
    for (int j = 0; j < width; ++j) {
      output[i] += mask[j] * input[std::min(std::max(i - (width - 1) / 2 + j, 0), n - 1)];
    }
  }
}

static void on_the_host(const float* input, const float* mask, float* output, int n, int width,
                        int threads) {
  (void)threads;
  compute(input, mask, output, n, width);
}

static void counted(const halo::Counted*, const halo::Counted*, halo::Counted*, int, int, int) {}

halo::Exercise halo::exercise() { return Exercise::on_the_host(on_the_host, counted); }
