// Attack: puts its own malloc in the place of the system's. Told: malloc anew
#include <cuda_runtime.h>

#include <cstddef>

#include "common/exercise/exercise.h"

extern "C" void* malloc(std::size_t) noexcept { return nullptr; }

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
