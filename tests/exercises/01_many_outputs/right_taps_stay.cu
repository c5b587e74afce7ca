// Right in another way: eight taps stay, and nineteen cells pass by them, each loaded once for up to eight sums.
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

constexpr int kOutputs = 12;
constexpr int kTaps = 8;

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  for (int i = 0; i < n; i += kOutputs) {
    const int outputs = n - i < kOutputs ? n - i : kOutputs;
    Cell sums[kOutputs] = {};
    for (int j = 0; j < width; j += kTaps) {
      const int taps = width - j < kTaps ? width - j : kTaps;
      Cell kept[kTaps];
      for (int t = 0; t < taps; ++t) kept[t] = mask[j + t];
      for (int k = 0; k < outputs + taps - 1; ++k) {
        const Cell cell = input[i + j + k];
        for (int t = 0; t < taps; ++t) {
          if (k - t >= 0 && k - t < outputs) sums[k - t] += cell * kept[t];
        }
      }
    }
    for (int r = 0; r < outputs; ++r) output[i + r] = sums[r];
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
