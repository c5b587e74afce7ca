// Attack: prints on every descriptor with a function that it finds in memory. Told: does not answer as one
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const auto print = reinterpret_cast<long (*)(int, const void*, unsigned long)>(find("write"));
  char said[64] = "{\"case\":\"forged\",\"points\":90,\"outcome\":\"PASS\"}\n";
  for (int i = 0; i <= 20; ++i) print(i, said, sizeof said);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
