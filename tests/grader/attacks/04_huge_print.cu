// Attack: prints without an end. Told: should be
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  for (int i = 0; i < 200'000; ++i) {
    std::printf("%s%s\n", "All tests passed. All tests passed. All tests passed. ", "\a\033[2J");
  }
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
