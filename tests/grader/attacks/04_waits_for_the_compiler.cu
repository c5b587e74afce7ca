// Attack: has the compiler compute for ever, in one constant. Told: does not compile
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr unsigned long long walked(unsigned long long n) {
  unsigned long long sum = 0;
  for (unsigned long long i = 0; i < n; ++i) sum = sum * 31 + i;
  return sum;
}
constexpr unsigned long long kNever = walked(1ULL << 62);

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)width, (void)threads;
  return static_cast<int>(kNever % 7) * n * 0;
}

halo::Exercise halo::exercise() { return launch; }
