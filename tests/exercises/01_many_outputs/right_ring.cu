// Right in another way: the window is a ring of eight, so that nothing moves; where n is no multiple of eight the
// last block begins earlier and computes some outputs again.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void ring_of_eight(const Cell* input, const Cell* mask, Cell* output, int width) {
  Cell sums[8] = {};
  Cell ring[8];
  for (int r = 0; r < 7; ++r) ring[r] = input[r];
  for (int j = 0; j < width; ++j) {
    ring[(j + 7) % 8] = input[j + 7];
    const Cell tap = mask[j];
    for (int r = 0; r < 8; ++r) sums[r] += ring[(j + r) % 8] * tap;
  }
  for (int r = 0; r < 8; ++r) output[r] = sums[r];
}

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  if (n < 8) {
    for (int i = 0; i < n; ++i) {
      Cell sum = input[i] * mask[0];
      for (int j = 1; j < width; ++j) sum = sum + input[i + j] * mask[j];
      output[i] = sum;
    }
    return;
  }
  for (int i = 0; i < n; i += 8) {
    const int first = i + 8 <= n ? i : n - 8;
    ring_of_eight(input + first, mask, output + first, width);
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
