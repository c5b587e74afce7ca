// Attack: has the type that counts do without counting, by a macro with a name of its header. Told: a macro ahead of an #include
#define begin(value, number) begin(value, number), counting::end(value)
#include "common/exercise/counted.h"
#undef begin
#include "common/exercise/exercise.h"

// Everything in variables: twice as many as there are registers, of which none is counted.
template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  constexpr int kOutputs = 64;
  for (int i = 0; i < n; i += kOutputs) {
    const int count = n - i < kOutputs ? n - i : kOutputs;
    Cell sums[kOutputs];
    Cell cells[kOutputs];
    for (int k = 0; k < count; ++k) cells[k] = input[i + k];
    for (int j = 0; j < width; ++j) {
      const Cell tap = mask[j];
      for (int k = 0; k < count; ++k) sums[k] += cells[(k + j) % count] * tap;
      if (j + 1 < width) cells[j % count] = input[i + j + count];
    }
    for (int k = 0; k < count; ++k) output[i + k] = sums[k];
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
