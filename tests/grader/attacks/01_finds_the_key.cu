// Attack: finds the key by which values are encoded, and so the values. Told: its counts are forged. Points: 65
#include <cstring>
#include <vector>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
unsigned inside(const Cell& value) {
  unsigned its;
  std::memcpy(&its, static_cast<const void*>(&value), sizeof its);
  return its;
}

// The same place for all of them.
template <class Cell>
float value_of(const Cell& cell) {
  Cell place = 0.0f;
  const unsigned key = inside(place);
  place = cell;
  const unsigned bits = inside(place) ^ key;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  std::vector<float> x, m;
  for (int i = 0; i < n + width - 1; ++i) x.push_back(value_of(input[i]));
  for (int j = 0; j < width; ++j) m.push_back(value_of(mask[j]));
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[i + j] * m[j];
    output[i] = Cell(sum);
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
