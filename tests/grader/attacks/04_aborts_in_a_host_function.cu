// Attack: ends the program in a function that the stream calls. Told: signal 6
#include <cuda_runtime.h>

#include <cstdlib>

#include "common/exercise/exercise.h"

static void work(void*) { std::abort(); }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  cudaLaunchHostFunc(nullptr, work, nullptr);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
