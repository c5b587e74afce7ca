// Attack: calls the system by an instruction. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(231), "D"(0) : "rcx", "r11", "memory");
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
