// output[i] = input[i], on the host; reads one cell too many.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void copy(const Cell* input, Cell* output, int n) {
  Cell next = input[0];
  for (int i = 0; i < n; ++i) {
    output[i] = next * Cell(1.0f);
    next = input[i + 1];
  }
}

halo::Exercise halo::exercise() { return Exercise::on_the_host(copy<float>, copy<Counted>); }
