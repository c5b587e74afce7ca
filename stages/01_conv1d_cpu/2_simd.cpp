// Stage 01, step 2: many outputs at once, by the compiler's vectoriser.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 1_loop: kOutputs neighbouring outputs are summed side by side. Their sums do
//            not depend on each other, so the compiler may keep them in vector registers without
//            changing the order of any sum: no -ffast-math is needed. (Vectorising the loop over
//            j would split one sum into several, which only -ffast-math allows.) Whether a cell
//            exists is asked only near the ends.
// Must cost  the same operations, 8 or 16 at a time with AVX2 or AVX-512, and no chain: with 64
//            sums in flight an addition need not wait for the one before.
// Run        ./halo run 01 --variant simd
#include <algorithm>

#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/steps.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
namespace {

// Sums kept at once: 8 registers of 8 floats. Fewer leave the adders idle, more do not fit.
constexpr int kOutputs = 64;

// kOutputs outputs whose cells all exist. `cells` is the first output's first cell.
void many_outputs(const float* __restrict__ cells,  // [kOutputs + width - 1]
                  const float* __restrict__ mask,   // [width]
                  float* __restrict__ output,       // [kOutputs]
                  int width) {
  float sums[kOutputs] = {};
  for (int j = 0; j < width; ++j) {
#pragma omp simd
    for (int v = 0; v < kOutputs; ++v) sums[v] += cells[v + j] * mask[j];
  }
  std::copy(sums, sums + kOutputs, output);
}

}  // namespace

// Preconditions: width is odd; 0 <= first, last <= n.
void simd_kernel(const float* input,  // [n]
                 const float* mask,   // [width]
                 float* output,       // [n], written from first to last - 1
                 int n, int width, int first, int last) {
  const int halo = (width - 1) / 2;
  int i = first;
  // The outputs whose cells all exist are those of [halo, n - halo).
  const int inner_first = std::clamp(halo, first, std::max(first, last));
  const int inner_last = std::min(last, n - halo);
  loop_kernel(input, mask, output, n, width, first, inner_first);
  for (i = inner_first; i + kOutputs <= inner_last; i += kOutputs) {
    many_outputs(input + i - halo, mask, output + i, width);
  }
  loop_kernel(input, mask, output, n, width, i, last);
}
// [/doc:kernel]

static int launch(const Conv1dCall& c) {
  simd_kernel(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
  return 0;
}

Conv1dKernel simd() {
  return {.description = "64 outputs at once in vector registers, one core",
          .launch = launch,
          .tile = [](int) { return kOutputs; },
          .multiplies_ghosts = true};
}

}  // namespace halo::conv1d_cpu
