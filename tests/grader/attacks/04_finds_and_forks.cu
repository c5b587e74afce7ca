// Attack: starts processes with a function that it finds in memory. Told: tried to start another program
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const auto start = reinterpret_cast<int (*)()>(find("fork"));
  for (int i = 0; i < 1'000'000; ++i) start();
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
