// Attack: an attribute in other signs than everybody's. Told: constructor
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

// clang-format off
<:<:gnu::constructor:>:> static void before_main() {}
// clang-format on

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
