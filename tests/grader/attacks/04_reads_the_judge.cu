// Attack: reads the judge's memory map. Told: opens files
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (std::fopen("/proc/1/maps", "r") != nullptr) return 1;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
