// Right in another way: twelve outputs at a time from the far end of the mask; the rest by a smaller block.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <int kOutputs, class Cell>
void block(const Cell* input, const Cell* mask, Cell* output, int width) {
  Cell sums[kOutputs] = {};
  Cell cells[kOutputs];
  for (int r = 1; r < kOutputs; ++r) cells[r] = input[r + width - 1];
  for (int j = width - 1; j >= 0; --j) {
    const Cell tap = mask[j];
    cells[0] = input[j];
    for (int r = 0; r < kOutputs; ++r) sums[r] += tap * cells[r];
    for (int r = kOutputs - 1; r > 0; --r) cells[r] = cells[r - 1];
  }
  for (int r = 0; r < kOutputs; ++r) output[r] = sums[r];
}

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  int i = 0;
  for (; n - i >= 12; i += 12) block<12>(input + i, mask, output + i, width);
  for (; n - i >= 3; i += 3) block<3>(input + i, mask, output + i, width);
  for (; i < n; ++i) block<1>(input + i, mask, output + i, width);
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
