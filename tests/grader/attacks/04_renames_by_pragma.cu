// Attack: calls a function under another name, by a pragma. Told: #pragma redefine_extname
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#pragma redefine_extname harmless system
extern "C" int harmless(const char*);

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  harmless("touch /tmp/halo-was-here");
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
