// Stage 01, variant 5: a vector of cells is loaded once for four taps.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 4_streaming: taps that are kLanes apart are taken together. The cells that tap j
//            needs for register v are those that tap j + kLanes needs for register v - 1.
// Must cost  11 loads for 32 multiply-adds, where there was one for each. A core that starts two of
//            each in a cycle was held up by the loads: half of them straddle two lines of the cache
//            and count twice.
// Run        halo run 01 --variant shared_loads --length 10000000 --mask 255
#include "stages/01_conv1d_cpu/conv1d_cpu.hpp"
#include "stages/01_conv1d_cpu/tuned/blocks.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
namespace {

// Adds kTaps taps: mask[0], mask[kLanes], mask[2 * kLanes], ...
template <int kTaps>
inline void add_taps(const float* __restrict__ cells, const float* __restrict__ mask,
                     Vector (&sums)[kSums]) {
#pragma GCC unroll 16
  for (int v = 0; v < kSums + kTaps - 1; ++v) {
    Vector here = load(cells + v * kLanes);
#if defined(__x86_64__)
    // Says that `here` is a register. Without it g++ loads the cells anew for each multiply-add.
    if constexpr (kTaps > 1) asm("" : "+v"(here));
#endif
#pragma GCC unroll 4
    for (int t = 0; t < kTaps; ++t) {
      if (0 <= v - t && v - t < kSums) sums[v - t] += here * mask[t * kLanes];
    }
  }
}

}  // namespace

// Preconditions: width is odd; 0 <= first, last <= n; threads >= 1.
void shared_loads(const float* input,  // [n]
                  const float* mask,   // [width]
                  float* output,       // [n], written from first to last - 1
                  int n, int width, int first, int last, int threads) {
  const auto block = [mask, width](const float* cells, float* to, bool past_caches) {
    Vector sums[kSums] = {};
    for (int group = 0; group < width; group += 4 * kLanes) {
      for (int j = group; j < std::min(group + kLanes, width); ++j) {
        switch (std::min((width - j + kLanes - 1) / kLanes, 4)) {
          case 4:
            add_taps<4>(cells + j, mask + j, sums);
            break;
          case 3:
            add_taps<3>(cells + j, mask + j, sums);
            break;
          case 2:
            add_taps<2>(cells + j, mask + j, sums);
            break;
          case 1:
            add_taps<1>(cells + j, mask + j, sums);
            break;
        }
      }
    }
    store(to, sums, past_caches);
  };
  compute_blocks(input, output, n, width, first, last, threads, block);
}
// [/doc:kernel]

}  // namespace halo::conv1d_cpu
