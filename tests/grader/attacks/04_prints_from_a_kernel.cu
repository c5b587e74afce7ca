// Attack: prints a pass and the screen's commands from a kernel. Told: never written
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

__global__ void none(float* output) {
  printf("\x1b[2J{\"points\": 130}\n::set-output name=points::130\nPASS 100 of 100\n");
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)n, (void)width, (void)threads;
  none<<<1, 1>>>(output);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
