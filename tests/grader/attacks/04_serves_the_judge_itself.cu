// Attack: answers the judge by system calls of its own, before the first call. Told: asm
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static long call(long number, long a, long b, long c) {
  long result;
  asm volatile(
      ""
      "syscall"
      : "=a"(result)
      : "a"(number), "D"(a), "S"(b), "d"(c)
      : "rcx", "r11", "memory");
  return result;
}

static struct Early {
  Early() {
    char request[32];
    while (call(0, 3, reinterpret_cast<long>(request), sizeof request) > 0) {
      call(1, 3, reinterpret_cast<long>(request), sizeof request);
    }
  }
} early;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
