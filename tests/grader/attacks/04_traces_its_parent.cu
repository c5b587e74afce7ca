// Attack: traces the judge. Told: looks into or ends other processes
#include <cuda_runtime.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
