// Which cells of the input a kernel reads whose lanes have an output each: for costs.
#pragma once

#include "common/conv/layer.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

/// The cell of channel 0 that the tap (r, s) meets for output m, numbered through over n, p and q; kNoCell for a ghost.
inline std::int64_t cell_of(const conv::ConvLayer& layer, std::int64_t m, std::int64_t r,
                            std::int64_t s) {
  const std::int64_t h = m / layer.Q() % layer.P() * layer.stride_h() - layer.padding_h() + r;
  const std::int64_t w = m % layer.Q() * layer.stride_w() - layer.padding_w() + s;
  if (h < 0 || h >= layer.H() || w < 0 || w >= layer.W()) return kNoCell;
  return (m / layer.Q() / layer.P() * layer.C() * layer.H() + h) * layer.W() + w;
}

/// Lanes that are neighbouring outputs load, for every tap and channel, their cells, where there are some: so many times.
inline void add_cells(Tally& tally, const conv::ConvLayer& layer, std::int64_t times) {
  const std::int64_t outputs = std::int64_t{layer.N()} * layer.P() * layer.Q();
  const Times channels = every(std::int64_t{layer.H()} * layer.W(), layer.C()) * times;
  for (const Cells warp : Cells{0, outputs}.pieces(kWarpSize)) {
    for (int tap = 0; tap < layer.R() * layer.S(); ++tap) {
      tally.load(lanes(warp,
                       [&](std::int64_t m) {
                         return cell_of(layer, m, tap / layer.S(), tap % layer.S());
                       }),
                 channels);
    }
  }
}

}  // namespace halo::convolve
