// Attack: overwrites the worker's memory from a kernel. Told: in the host's memory
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void overwrite(char* memory) { memory[threadIdx.x] = 0x41; }

static char beside_the_counters[64];

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  overwrite<<<1, 64>>>(beside_the_counters);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
