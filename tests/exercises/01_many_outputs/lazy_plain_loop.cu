// Lazy. Fails: taps and cells serve several outputs
// The plain loop.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  for (int i = 0; i < n; ++i) {
    Cell sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += input[i + j] * mask[j];
    output[i] = sum;
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
