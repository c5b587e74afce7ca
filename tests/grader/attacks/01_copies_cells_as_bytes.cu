// Attack: copies the cells that are counted as bytes. Told: what memcpy and casts move is not counted. Points: 65
#include <cstring>
#include <vector>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  std::vector<float> x(n + width - 1), m(width);
  std::memcpy(x.data(), static_cast<const void*>(input), x.size() * sizeof(float));
  std::memcpy(m.data(), static_cast<const void*>(mask), m.size() * sizeof(float));
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
