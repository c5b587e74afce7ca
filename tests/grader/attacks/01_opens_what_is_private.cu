// Attack: opens what is private in the type that counts. Told: its counts are forged. Points: 65
#include <vector>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

// An explicit instantiation may name what is private.
struct Tag {};
float halo::Counted::*its_of(Tag);
template <float halo::Counted::*kIts>
struct Opened {
  friend float halo::Counted::*its_of(Tag) { return kIts; }
};
template struct Opened<&halo::Counted::its_>;
float value_of(const halo::Counted& cell) {
  const halo::Counted value = cell;
  return value.*its_of(Tag{});
}
float value_of(const float& cell) { return cell; }

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
