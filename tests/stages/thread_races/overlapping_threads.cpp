// The runs of stages/01_conv1d_cpu/3_threads.cpp, of which each goes 16 outputs too far: the next thread
// writes the same values there, so no result is wrong.
#include <algorithm>
#include <thread>
#include <vector>

#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/steps.hpp"

namespace halo::conv1d_cpu {

static int launch(const Conv1dCall& c) {
  const int run = (c.last - c.first - 1) / c.threads + 1;
  std::vector<std::jthread> others;
  for (int from = c.first; from < c.last; from += run) {
    const int to = std::min(from + run + 16, c.last);
    others.emplace_back(
        [=] { simd_kernel(c.input, c.mask, c.output, c.length, c.mask_width, from, to); });
  }
  return 0;
}

Conv1dKernel overlapping_threads() {
  return {.description = "runs that overlap", .launch = launch};
}

}  // namespace halo::conv1d_cpu
