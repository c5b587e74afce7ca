// Lazy. Fails: taps and cells serve several outputs
// The plain loop, on the arrays as floats, which do not count; each cell is touched once as the page asks.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  const auto* const cells = reinterpret_cast<const float*>(input);
  const auto* const taps = reinterpret_cast<const float*>(mask);
  Cell seen = 0.0f;
  for (int k = 0; k < n + width - 1; ++k) seen = input[k];
  for (int j = 0; j < width; ++j) seen = mask[j];
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += cells[i + j] * taps[j];
    output[i] = Cell(sum);
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<halo::Counted>);
}
