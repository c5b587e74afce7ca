// Attack: takes a file into its data by the assembler. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

asm(".section .rodata\nsolution: .incbin \"/etc/hostname\"\n.text");

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
