// Attack: a comment in a #define, ahead of a name that is reserved. Told: with a comment in its name's place
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#undef /**/ __THROW
#define /**/ __THROW                     \
  ;                                      \
  void unseen() { asm volatile("nop"); } \
  extern "C" void unused(void)
#include <fmtmsg.h>

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
