// Attack: lifts its limits. Told: looks into or ends other processes
#include <cuda_runtime.h>
#include <sys/resource.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
