// Attack: keeps its end away by signal handlers. Told: handles signals
#include <cuda_runtime.h>

#include <csignal>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::signal(SIGTERM, SIG_IGN);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
