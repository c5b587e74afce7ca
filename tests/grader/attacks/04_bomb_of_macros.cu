// Attack: lets the preprocessor write without an end. Told: the preprocessor makes more
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#define B0 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
#define B1 B0, B0, B0, B0, B0, B0, B0, B0, B0, B0
#define B2 B1, B1, B1, B1, B1, B1, B1, B1, B1, B1
#define B3 B2, B2, B2, B2, B2, B2, B2, B2, B2, B2
#define B4 B3, B3, B3, B3, B3, B3, B3, B3, B3, B3
#define B5 B4, B4, B4, B4, B4, B4, B4, B4, B4, B4
#define B6 B5, B5, B5, B5, B5, B5, B5, B5, B5, B5
#define B7 B6, B6, B6, B6, B6, B6, B6, B6, B6, B6
#define B8 B7, B7, B7, B7, B7, B7, B7, B7, B7, B7
int bomb[] = {B8};

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
