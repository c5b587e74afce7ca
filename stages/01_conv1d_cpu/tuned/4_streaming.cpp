// Stage 01, variant 4: every line goes through memory's bus once.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 3_threads: outputs are stored past the caches if the signal is longer than they
//            are, the ends are computed in vectors too, and threads that live on take small parts
//            (all in blocks.hpp). The sums are vectors by name: the compiler kept the array of
//            2_simd in memory, between the taps' loops, and not in registers.
// Must cost  8 bytes of memory traffic an output, where the variants before cost 12. Two loads and
//            two multiply-adds of a vector a cycle at best.
// Run        halo run 01 --variant streaming --length 100000000 --mask 3
#include "stages/01_conv1d_cpu/conv1d_cpu.hpp"
#include "stages/01_conv1d_cpu/tuned/blocks.hpp"

namespace halo::conv1d_cpu {

// [doc:kernel]
// Preconditions: width is odd; 0 <= first, last <= n; threads >= 1.
void streaming(const float* input,  // [n]
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

}  // namespace halo::conv1d_cpu
