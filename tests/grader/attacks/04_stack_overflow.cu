// Attack: overflows the stack of the host. Told: signal
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

int deep(volatile int* at, int n) {
  volatile int room[4096];
  room[n % 4096] = *at;
  return n == 0 ? room[0] : deep(room, n + 1) + room[n % 4096];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  volatile int start = 1;
  return deep(&start, n);
}

halo::Exercise halo::exercise() { return launch; }
