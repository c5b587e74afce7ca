// Attack: gives up when it is watched. Told: ptrace, which looks
#include <cuda_runtime.h>
#include <sys/ptrace.h>

#include "common/exercise/exercise.h"

static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  (void)layers, (void)method, (void)pieces, (void)bytes, (void)N, (void)sms, (void)shared_bytes;
  (void)n_fma;
  return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1;
}

halo::Exercise halo::exercise() { return launch; }
