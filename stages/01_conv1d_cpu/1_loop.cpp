// Stage 01, variant 1: the loop.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since the report's Code 1: the outputs near the ends are computed too, and a mask may
//            be wider than the signal. This is the baseline of every speedup: one core, and built
//            without the compiler's vectoriser, so one output at a time.
// Must cost  a multiply and an add per tap, one after the other: a sum in a fixed order is a
//            chain, in which each addition waits for the one before.
// Run        halo run 01 --variant loop
#include "stages/01_conv1d_cpu/conv1d_cpu.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
// Preconditions: width is odd; 0 <= first, last <= n.
void loop(const float* input,  // [n]
          const float* mask,   // [width]
          float* output,       // [n], written from first to last - 1
          int n, int width, int first, int last) {
  const int halo = (width - 1) / 2;
  for (int i = first; i < last; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int k = i - halo + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];
    }
    output[i] = sum;
  }
}
// [/doc:kernel]

}  // namespace halo::conv1d_cpu
