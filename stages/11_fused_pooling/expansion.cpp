#include "stages/11_fused_pooling/expansion.hpp"

#include <algorithm>

namespace halo::fused_pooling {

namespace {

using conv::Layout;
using conv::PoolingLayer;

// What cells_asked counts, along one axis.
struct Axis {
  std::int64_t cells, window, outputs, stride, padding;

  std::int64_t asked(int expansion) const {
    std::int64_t sum = 0;
    for (std::int64_t first = 0; first < outputs; first += expansion) {
      const std::int64_t last = std::min(first + expansion, outputs) - 1;
      const std::int64_t begin = std::max(first * stride - padding, std::int64_t{0});
      sum += std::min(last * stride - padding + window, cells) - begin;
    }
    return sum;
  }
  bool overlaps() const { return window > stride; }
};

Axis down(const PoolingLayer& layer) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h()};
}

Axis across(const PoolingLayer& layer) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w()};
}

std::int64_t parts(std::int64_t all, std::int64_t size) { return (all - 1) / size + 1; }

}  // namespace

std::int64_t cells_asked(const PoolingLayer& layer, Expansion expansion) {
  return down(layer).asked(expansion.rows) * across(layer).asked(expansion.columns);
}

std::int64_t warps(const PoolingLayer& layer, Layout layout, Expansion expansion) {
  const std::int64_t tiles =
      parts(layer.P(), expansion.rows) * parts(layer.Q(), expansion.columns) * layer.C();
  return layout == Layout::nchw ? parts(tiles * layer.N(), 32) : tiles * parts(layer.N(), 32);
}

std::string why_not(const PoolingLayer& layer, Layout layout, Expansion expansion) {
  if (expansion.rows > 1 && !down(layer).overlaps()) {
    return "its windows do not overlap downwards, so there are no rows to share";
  }
  if (expansion.columns > 1 && layout == Layout::nchw) {
    return "in NCHW lanes are columns, and each keeps to its own";
  }
  if (expansion.columns > 1 && !across(layer).overlaps()) {
    return "its windows do not overlap sideways, so there are no columns to share";
  }
  return "";
}

Expansion choose_expansion(const PoolingLayer& layer, Layout layout, int multiprocessors) {
  Expansion chosen;
  while (true) {
    Expansion best = chosen;
    for (const Expansion next :
         {Expansion{2 * chosen.rows, chosen.columns}, Expansion{chosen.rows, 2 * chosen.columns}}) {
      if (std::max(next.rows, next.columns) > kLargestExpansion) continue;
      if (!why_not(layer, layout, next).empty()) continue;
      if (cells_asked(layer, next) < cells_asked(layer, best)) best = next;
    }
    const auto before = static_cast<double>(cells_asked(layer, chosen));
    const auto after = static_cast<double>(cells_asked(layer, best));
    const double worth = layout == Layout::nchw ? kWorthInNchw : kWorth;
    if (after > (1 - worth) * before || warps(layer, layout, best) < kEnoughWarps * multiprocessors)
      break;
    chosen = best;
  }
  const Expansion longer{kLongColumn, 1};
  if (layout == Layout::nchw && chosen.rows > 1 && layer.P() >= 2 * kLongColumn - 1 &&
      warps(layer, layout, longer) >= kEnoughWarps * multiprocessors) {
    chosen = longer;
  }
  return chosen;
}

int strip_of(const PoolingLayer& layer, int multiprocessors) {
  if (!down(layer).overlaps()) return 1;
  const std::int64_t images = layer.N() % 4 == 0 ? layer.N() / 4 : layer.N();
  const std::int64_t across = images * layer.C() * layer.Q();
  int strip = kLongestStrip;
  while (strip > 1 &&
         across * parts(layer.P(), strip) < std::int64_t{kStripThreads} * multiprocessors) {
    --strip;
  }
  return strip;
}

}  // namespace halo::fused_pooling
