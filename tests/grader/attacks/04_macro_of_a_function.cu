// Attack: puts assembler into the line of a header that declares a function of C. Told: a macro ahead of an #include
#define abs(x)                                                              \
  abs(x);                                                                   \
  static inline void crash() {                                              \
    asm volatile("movl $231, %%eax; xorl %%edi, %%edi; syscall" ::: "rax"); \
  }                                                                         \
  extern "C" int unused_abs(int)
#include <stdlib.h>
#undef abs
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

//+ naive.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  crash();
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
