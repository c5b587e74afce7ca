// Stage 01, step 1: the loop.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since the report's Code 1: the outputs near the ends are computed too, and a mask may
//            be wider than the signal. This is the baseline of every speedup: one core, and built
//            without the compiler's vectoriser, so one output at a time.
// Must cost  a multiply and an add per tap, one after the other: a sum in a fixed order is a
//            chain, in which each addition waits for the one before.
// Run        ./halo run 01 --variant loop
#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/steps.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
// Preconditions: width is odd; 0 <= first, last <= n.
void loop_kernel(const float* input,  // [n]
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

static int launch(const Conv1dCall& c) {
  loop_kernel(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
  return 0;
}

Conv1dKernel loop() { return {.description = "one output at a time, one core", .launch = launch}; }

}  // namespace halo::conv1d_cpu
