// Attack: lets the compiler instantiate without an end. Told: does not compile
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

template <int N>
struct Bomb {
  static constexpr int value = Bomb<N + 1>::value + 1;
};
int bomb = Bomb<0>::value;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
