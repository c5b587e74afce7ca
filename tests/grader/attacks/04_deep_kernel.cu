// Attack: overflows the stack of a kernel's thread. Told: deeper than its local memory
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__device__ int deep(volatile int* at, int n) {
  volatile int room[4096];
  room[n % 4096] = *at;
  return n == 0 ? room[0] : deep(room, n + 1) + room[n % 4096];
}

__global__ void kernel(float* output, int n) {
  volatile int start = 1;
  output[0] = deep(&start, n);
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  kernel<<<1, 1>>>(output, n);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
