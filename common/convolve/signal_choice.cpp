#include "common/convolve/signal_choice.hpp"

#include <algorithm>
#include <iterator>

namespace halo::convolve {

namespace {

// Of signals of up to `length` cells: quad for masks of up to `quad` taps, warp_tile for wider ones of up to `warp_tile`,
// overlap_save for the rest. From docs/results/signal_times.json, whose lengths are powers of ten: a signal has the widths
// of the nearest. A block of warp_tile has many outputs, so short signals leave most SMs idle.
struct Widths {
  int length, quad, warp_tile;
};
constexpr Widths kWidths[] = {{300'000, 31, 0}, {3'000'000, 27, 0}, {30'000'000, 21, 61}};
constexpr Widths kLonger = {0, 19, 83};

}  // namespace

std::string choose_signal_kernel(int taps, int length) {
  const auto at = std::find_if(std::begin(kWidths), std::end(kWidths),
                               [&](const Widths& one) { return length <= one.length; });
  const Widths& widths = at == std::end(kWidths) ? kLonger : *at;
  if (taps <= widths.quad) return "quad";
  return taps <= widths.warp_tile ? "warp_tile" : "overlap_save";
}

}  // namespace halo::convolve
