// Attack: ends the program with a function that it finds in memory. Told: ended itself
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  reinterpret_cast<void (*)(int)>(find("_exit"))(0);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
