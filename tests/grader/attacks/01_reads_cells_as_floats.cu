// Attack: reads the cells that are counted as floats. Told: its counts are forged. Points: 65
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  const float* x = reinterpret_cast<const float*>(input);
  const float* m = reinterpret_cast<const float*>(mask);
  Cell seen = 0.0f;
  for (int i = 0; i < n + width - 1; ++i) seen = input[i];
  for (int j = 0; j < width; ++j) seen = mask[j];
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[i + j] * m[j];
    output[i] = Cell(sum);
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
