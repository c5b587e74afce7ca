// Attack: wants to say a terabyte to the judge. Told: does not answer as one
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const auto send = reinterpret_cast<long (*)(int, const void*, unsigned long)>(find("write"));
  struct {
    unsigned kind;
    float value;
    unsigned long address, count, bytes;
  } header = {0, 0, 0, 0, 1ul << 40};
  send(3, &header, sizeof header);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
