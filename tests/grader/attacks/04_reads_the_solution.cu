// Attack: opens the solution. Told: opens files
#include <cuda_runtime.h>

#include <fstream>
#include <string>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::ifstream file("solutions/04_tile_and_halo/tile_and_halo.cu");
  std::string all;
  std::getline(file, all);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
