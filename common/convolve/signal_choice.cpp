#include "common/convolve/signal_choice.hpp"

namespace halo::convolve {

namespace {

// More cells than that do not fit into the registers of quad's threads.
constexpr int kWidestOfQuad = 17;
// docs/results/bench_conv1d_gpu.json has 63 taps, where warp_tile is faster, and 255, where overlap_save is. Between them
// warp_tile's time grows with the taps and the other's does not. They meet where the straight line through warp_tile's
// two times does: sooner for a signal whose cells the L2 cache holds.
constexpr int kWidestDirect = 75, kWidestDirectOfLong = 101;
constexpr int kLong = 100'000'000;

}  // namespace

std::string choose_signal_kernel(int taps, int length) {
  if (taps <= kWidestOfQuad) return "quad";
  return taps <= (length < kLong ? kWidestDirect : kWidestDirectOfLong) ? "warp_tile"
                                                                        : "overlap_save";
}

}  // namespace halo::convolve
