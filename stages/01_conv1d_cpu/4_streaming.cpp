// Stage 01, step 4: every line goes through memory's bus once.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 3_threads: if the signal is longer than the caches, outputs are stored past them,
//            so that no line is read only to be overwritten. Cells are asked for 2 KB ahead. The ends
//            are computed in vectors too. Threads live on, and take small parts as they are free.
//            (All this is in blocks.hpp.) The sums are vectors by name: of the array in 2_simd the
//            compiler made memory that it cleared and copied for every 64 outputs.
// Must cost  8 bytes of memory traffic an output, where the variants before cost 12. A load and a
//            multiply-add for each tap and vector.
// Run        ./halo run 01 --variant streaming --length 100000000 --mask 3
#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/blocks.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
// Preconditions: width is odd; 0 <= first, last <= n; threads >= 1.
static void streaming_kernel(const float* input,  // [n]
                             const float* mask,   // [width]
                             float* output,       // [n], written from first to last - 1
                             int n, int width, int first, int last, int threads) {
  const auto block = [mask, width](const float* cells, float* to, bool past_caches) {
    Vector sums[kSums] = {};
    for (int j = 0; j < width; ++j) {
#pragma GCC unroll kSums
      for (int v = 0; v < kSums; ++v) sums[v] += load(cells + j + v * kLanes) * mask[j];
    }
    store(to, sums, past_caches);
  };
  compute_blocks(input, output, n, width, first, last, threads, block);
}
// [/doc:kernel]

static int launch(const Conv1dCall& c) {
  streaming_kernel(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  return 0;
}

Conv1dKernel streaming() {
  return {.description = "as threads, stores past the caches, cells asked for ahead",
          .launch = launch,
          .tile = [](int) { return kBlock; },
          .multiplies_ghosts = true,
          .tuned = true};
}

}  // namespace halo::conv1d_cpu
