// Attack: asks for the simulator's own functions. Told: simt_simulator, which is not a function for exercises
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

extern "C" const void* simt_simulator(int version);

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return simt_simulator(4) == nullptr;
}

halo::Exercise halo::exercise() { return launch; }
