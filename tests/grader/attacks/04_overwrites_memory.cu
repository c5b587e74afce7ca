// Attack: overwrites whatever lies beside the simulator's variables. Told: signal
#include <cuda_runtime.h>

#include <cstring>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::memset(
      reinterpret_cast<char*>(const_cast<uint3*>(reinterpret_cast<const uint3*>(&threadIdx))), 0x41,
      64 << 20);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
