// Lazy. Fails: what is kept fits into registers
// The whole mask and the whole window in variables: no processor has so many.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  Cell taps[512];
  Cell window[512];  // as a ring
  for (int j = 0; j < width; ++j) taps[j] = mask[j];
  for (int j = 0; j < width - 1; ++j) window[j] = input[j];
  for (int i = 0; i < n; ++i) {
    window[(i + width - 1) % width] = input[i + width - 1];
    Cell sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += window[(i + j) % width] * taps[j];
    output[i] = sum;
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
