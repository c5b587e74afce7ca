// Attack: puts code of its own into the lines of a header, by a macro that these use. Told: reserved
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"
#undef __THROW
#define __THROW                                          \
  ;                                                      \
  __attribute__((constructor)) static void smuggled() {} \
  extern "C" void unused(void)
#include <fmtmsg.h>
#undef __THROW
#define __THROW

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
