// Attack: has assembler outside of any function, with code that runs before main. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

asm(""
    ".pushsection .init_array\n"
    ".quad 0\n"
    ".popsection");

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
