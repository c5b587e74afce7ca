// Stage 01, step 3: all cores.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 2_simd: the outputs are cut into runs of neighbours, one a thread. Threads read
//            each other's cells at the seams (the halo) and write none of them: no lock is needed.
// Must cost  the same operations, divided by the cores. Starting a thread costs some ten
//            microseconds, so a short signal loses; a long one waits for memory, which all share.
// Run        ./halo run 01 --variant threads --threads 4
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/steps.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
// Preconditions: width is odd; 0 <= first, last <= n; threads >= 1.
static void threads_kernel(const float* input,  // [n]
                           const float* mask,   // [width]
                           float* output,       // [n], written from first to last - 1
                           int n, int width, int first, int last, int threads) {
  const std::int64_t outputs = std::max(0, last - first);
  // Multiples of 16 floats are whole cache lines: two threads that write to one line would pass it
  // back and forth.
  const std::int64_t run = ((outputs - 1) / threads / 16 + 1) * 16;

  std::vector<std::jthread> others;
  for (std::int64_t start = run; start < outputs; start += run) {
    const int from = static_cast<int>(first + start);
    const int to = static_cast<int>(first + std::min(start + run, outputs));
    others.emplace_back([=] { simd_kernel(input, mask, output, n, width, from, to); });
  }
  // The calling thread takes the first run. Leaving the function waits for the others.
  simd_kernel(input, mask, output, n, width, first,
              static_cast<int>(first + std::min(run, outputs)));
}
// [/doc:kernel]

static int launch(const Conv1dCall& c) {
  threads_kernel(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  return 0;
}

Conv1dKernel threads() {
  return {.description = "as simd, on all cores", .launch = launch, .multiplies_ghosts = true};
}

}  // namespace halo::conv1d_cpu
