// Attack: allocates and touches all memory there is. Told: memory
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  for (;;) {
    void* piece = std::malloc(64 << 20);
    if (piece == nullptr) return 1;
    std::memset(piece, 1, 64 << 20);
  }
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
