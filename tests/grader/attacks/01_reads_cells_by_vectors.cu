// Attack: reads the cells that are counted by vector instructions. Told: its counts are forged. Points: 65
#include <xmmintrin.h>

#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

template <class Cell>
void many_outputs(const Cell* input, const Cell* mask, Cell* output, int n, int width) {
  const auto* x = reinterpret_cast<const float*>(input);
  const auto* m = reinterpret_cast<const float*>(mask);
  Cell seen = 0.0f;
  for (int i = 0; i < n + width - 1; ++i) seen = input[i];
  for (int j = 0; j < width; ++j) seen = mask[j];
  for (int i = 0; i < n; ++i) {
    __m128 sum = _mm_setzero_ps();
    for (int j = 0; j < width; ++j) {
      sum = _mm_add_ss(sum, _mm_mul_ss(_mm_load_ss(x + i + j), _mm_load_ss(m + j)));
    }
    output[i] = Cell(_mm_cvtss_f32(sum));
  }
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
