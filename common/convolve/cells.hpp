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

/// Lanes that are neighbouring outputs copy, for every tap and channel, their cells to neighbours in shared memory, so many
/// times. Zeros where there are none, of outputs that fill up a tile, and of what fills up the copies of each output.
inline void copy_cells(Tally& tally, const conv::ConvLayer& layer, std::int64_t tile,
                       std::int64_t copies, std::int64_t times) {
  const std::int64_t outputs = std::int64_t{layer.N()} * layer.P() * layer.Q();
  const std::int64_t zeros = copies - std::int64_t{layer.R()} * layer.S() * layer.C();
  const Times cells = every(std::int64_t{layer.H()} * layer.W(), layer.C()) * times;
  const Lanes to = lanes({0, kWarpSize}, [](std::int64_t i) { return i; });
  const Cells of_tiles{0, Cells{0, outputs}.pieces(tile).count() * tile};
  for (const Cells warp : of_tiles.pieces(kWarpSize)) {
    for (int tap = 0; tap < layer.R() * layer.S(); ++tap) {
      const Lanes from = lanes(warp, [&](std::int64_t m) {
        return m < outputs ? cell_of(layer, m, tap / layer.S(), tap % layer.S()) : kNoCell;
      });
      tally.copy_or_zero(from, to, cells);
    }
    tally.copy_or_zero(Lanes(), to, times * zeros);
  }
}

}  // namespace halo::convolve
