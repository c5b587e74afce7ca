// Stage 01, step 5: a vector of cells is loaded once for four taps.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 4_streaming: taps that are kLanes apart are taken together. The cells that tap j
//            needs for register v are those that tap j + kLanes needs for register v - 1.
// Must cost  11 loads for 32 multiply-adds, where there was one for each. A core that starts two of
//            each in a cycle was held up by the loads: half of them straddle two lines of the cache
//            and count twice.
// Run        ./halo run 01 --variant shared_loads --length 10000000 --mask 255
#include "common/harness/kernel.h"
#include "stages/01_conv1d_cpu/blocks.hpp"

namespace halo::conv1d_cpu {

namespace {

// For each of `rows` neighbouring taps: adds it and those kLanes, 2 * kLanes, ... after it, kTaps in
// all. `cells` and `mask` begin at the first.
template <int kTaps>
[[gnu::always_inline]] inline void add_rows(const float* cells, const float* mask, int rows,
                                            Vector (&sums)[kSums]) {
  // [doc:rows]
  for (int j = 0; j < rows; ++j) {
#pragma GCC unroll 16
    for (int v = 0; v < kSums + kTaps - 1; ++v) {
      Vector here = load(cells + j + v * kLanes);
#if defined(__x86_64__)
      // Says that `here` is a register. Without it g++ loads the cells anew for each multiply-add.
      if constexpr (kTaps > 1) asm("" : "+v"(here));
#endif
#pragma GCC unroll 4
      for (int t = 0; t < kTaps; ++t) {
        if (0 <= v - t && v - t < kSums) sums[v - t] += here * mask[j + t * kLanes];
      }
    }
  }
  // [/doc:rows]
}

}  // namespace

// Preconditions: width is odd; 0 <= first, last <= n; threads >= 1.
static void shared_loads_kernel(const float* input,  // [n]
                                const float* mask,   // [width]
                                float* output,       // [n], written from first to last - 1
                                int n, int width, int first, int last, int threads) {
  const auto block = [mask, width](const float* cells, float* to, bool past_caches) {
    Vector sums[kSums] = {};
    int j = 0;
    for (; j + 4 * kLanes <= width; j += 4 * kLanes) add_rows<4>(cells + j, mask + j, kLanes, sums);
    // The rest: some rows have one tap more than the others.
    const int longer = (width - j) % kLanes;
    const int k = j + longer;
    switch ((width - j) / kLanes) {
      case 3:
        add_rows<4>(cells + j, mask + j, longer, sums);
        add_rows<3>(cells + k, mask + k, kLanes - longer, sums);
        break;
      case 2:
        add_rows<3>(cells + j, mask + j, longer, sums);
        add_rows<2>(cells + k, mask + k, kLanes - longer, sums);
        break;
      case 1:
        add_rows<2>(cells + j, mask + j, longer, sums);
        add_rows<1>(cells + k, mask + k, kLanes - longer, sums);
        break;
      case 0:
        add_rows<1>(cells + j, mask + j, longer, sums);
        break;
    }
    store(to, sums, past_caches);
  };
  compute_blocks(input, output, n, width, first, last, threads, block);
}

static int launch(const Conv1dCall& c) {
  shared_loads_kernel(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last,
                      c.threads);
  return 0;
}

Conv1dKernel shared_loads() {
  return {.description = "as streaming, cells loaded once for four taps",
          .launch = launch,
          .tile = [](int) { return kBlock; },
          .multiplies_ghosts = true,
          .tuned = true};
}

}  // namespace halo::conv1d_cpu
