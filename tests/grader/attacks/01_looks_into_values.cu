// Attack: loads each cell once and looks into the value that it has then. Told: its counts are forged. Points: 65
#include <cstring>
#include <vector>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
float inside(const Cell& value) {
  float its;
  std::memcpy(&its, static_cast<const void*>(&value), sizeof its);
  return its;
}

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  std::vector<float> x, m;
  for (int i = 0; i < n + width - 1; ++i) x.push_back(inside(Cell(input[i])));
  for (int j = 0; j < width; ++j) m.push_back(inside(Cell(mask[j])));
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[i + j] * m[j];
    output[i] = Cell(sum);
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
