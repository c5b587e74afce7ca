// Attack: writes the answers into its predictions. Told: opens files
#include <cuda_runtime.h>

#include <fstream>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::ofstream("predictions.txt") << "requests_per_block = 9";
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
