// Lazy. Fails: taps and cells serve several outputs
// The loops swapped: a tap is loaded once, and everything else once for each tap.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  for (int i = 0; i < n; ++i) output[i] = 0.0f;
  for (int j = 0; j < width; ++j) {
    const Cell tap = mask[j];
    for (int i = 0; i < n; ++i) output[i] += input[i + j] * tap;
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
