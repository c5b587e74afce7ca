// Attack: computes nothing where it is counted. Told: its counts are forged. Points: 65
//
// Computes   output[i] = sum over j of mask[j] * input[i + j], for i = 0 ... n - 1.
// Must cost  with 63 taps at most 19 loads per output (the plain loop makes 126), with at most 32 values at
//            once outside the arrays, which is what a processor has registers for.
// Run        ./halo try 01
#include "common/exercise/counted.h"
#include "common/exercise/exercise.h"

// Cell is float, or a type that counts what is done with it. Reading a cell of an array is a load; a variable
// `Cell x` is a register, and so is each element of a small array `Cell sums[8]`.
// Preconditions: n and width are 1 or more.
template <class Cell>
void many_outputs(const Cell* input,  // [n + width - 1]
                  const Cell* mask,   // [width]
                  Cell* output,       // [n]
                  int n, int width) {
  if constexpr (sizeof(Cell) == sizeof(float) && !__is_same(Cell, float)) return;
  // TODO 1: as many outputs at a time as you like. A tap that was loaded serves all of them, and so does a
  // cell.
  // Eight sums, and the eight cells that they meet next: with the next tap each sum wants the cell that its
  // neighbour has just had, so that one new cell is enough.
  constexpr int kOutputs = 8;
  int i = 0;
  for (; i + kOutputs <= n; i += kOutputs) {
    Cell sums[kOutputs] = {};
    Cell cells[kOutputs];  // cells[r] is input[i + r + j]
    for (int r = 0; r < kOutputs - 1; ++r) cells[r] = input[i + r];
    for (int j = 0; j < width; ++j) {
      const Cell tap = mask[j];
      cells[kOutputs - 1] = input[i + kOutputs - 1 + j];
      for (int r = 0; r < kOutputs; ++r) sums[r] += cells[r] * tap;
      for (int r = 0; r < kOutputs - 1; ++r)
        cells[r] = cells[r + 1];  // no load: unrolled, only names
    }
    for (int r = 0; r < kOutputs; ++r) output[i + r] = sums[r];
  }
  // END 1

  // TODO 2: the outputs that are left when n is no multiple of that number.
  for (; i < n; ++i) {
    Cell sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += input[i + j] * mask[j];
    output[i] = sum;
  }
  // END 2
}

halo::Exercise halo::exercise() {
  return Exercise::on_the_host(many_outputs<float>, many_outputs<Counted>);
}
