// Attack: a macro in capitals, which a header has as a template's parameter. Told: would be in their lines
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#define T                                               \
  first_of_two > void unseen() { asm volatile("nop"); } \
  template <class second_of_two
#include <cooperative_groups.h>
#undef T

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
