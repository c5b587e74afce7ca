// Attack: prints a pass on every descriptor. Told: write, which uses descriptors
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstring>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const char* said = "{\"case\":\"forged\",\"points\":90,\"most\":90,\"outcome\":\"PASS\"}\n";
  for (int i = 0; i <= 20; ++i) {
    if (write(i, said, std::strlen(said)) < 0) continue;
  }
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
