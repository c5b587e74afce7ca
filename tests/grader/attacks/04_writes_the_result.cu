// Attack: writes the file of the result. Told: opens files
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::FILE* file = std::fopen("results.json", "w");
  if (file != nullptr) std::fputs("{\"score\": 100}", file);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
