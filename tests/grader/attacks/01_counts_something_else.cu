// Attack: does the fewest loads and stores there can be where it is counted. Told: its counts are forged. Points: 65
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

static void compute(const float* input, const float* mask, float* output, int n, int width) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < width; ++j) sum += mask[j] * input[i + j];
    output[i] = sum;
  }
}

static void counted(const halo::Counted* input, const halo::Counted* mask, halo::Counted* output,
                    int n, int width) {
  halo::Counted seen = 0;
  for (int i = 0; i < n + width - 1; ++i) seen = input[i];
  for (int j = 0; j < width; ++j) seen = mask[j];
  for (int i = 0; i < n; ++i) output[i] = seen;
}

halo::Exercise halo::exercise() { return halo::Exercise::on_the_host(compute, counted); }
