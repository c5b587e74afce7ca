// One of the two directions in which a window slides over an image: everything about windows, strides
// and paddings is one-dimensional. Not for use outside this room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/conv/internal.hpp"

namespace halo::conv::internal {

/// Rows or columns. The taps of a filter, or the cells of a pooling window.
struct Axis {
  std::int64_t cells;    // H or W
  std::int64_t taps;     // R or S
  std::int64_t outputs;  // P or Q
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t dilation = 1;  // cells from one tap to the next

  // Where the tap looks from output 0; it looks `stride` further from each next output.
  std::int64_t shift(std::int64_t tap) const { return tap * dilation - padding; }

  // The outputs from which the tap sees a cell that exists.
  Range outputs_of(std::int64_t tap) const {
    const std::int64_t from = shift(tap);
    const std::int64_t begin = from >= 0 ? 0 : (-from + stride - 1) / stride;
    const std::int64_t end = from >= cells ? 0 : (cells - 1 - from) / stride + 1;
    return {begin, std::min(end, outputs)};
  }

  // The taps that lie over cells that exist.
  Range taps_of(std::int64_t output) const {
    const std::int64_t first_cell = output * stride - padding;
    const auto taps_before = [&](std::int64_t distance) {
      return distance <= 0 ? 0 : (distance - 1) / dilation + 1;
    };
    return {taps_before(-first_cell), std::min(taps, taps_before(cells - first_cell))};
  }

  // Pairs of an output and a tap that meet over a cell that exists.
  std::int64_t pairs() const {
    std::int64_t sum = 0;
    // The shorter way: a pooling window may be as long as a signal.
    if (outputs < taps) {
      for (std::int64_t output = 0; output < outputs; ++output) sum += taps_of(output).size();
      return sum;
    }
    for (std::int64_t tap = 0; tap < taps; ++tap) sum += outputs_of(tap).size();
    return sum;
  }

  std::int64_t used_taps() const {
    std::int64_t used = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) used += outputs_of(tap).size() > 0;
    return used;
  }

  std::int64_t used_cells() const {
    if (dilation > 1) {
      std::vector<bool> used(static_cast<std::size_t>(cells));
      for (std::int64_t output = 0; output < outputs; ++output) {
        const Range seen = taps_of(output);
        for (std::int64_t tap = seen.begin; tap < seen.end; ++tap) {
          used[static_cast<std::size_t>(output * stride + shift(tap))] = true;
        }
      }
      return std::count(used.begin(), used.end(), true);
    }
    // Steps as long as the filter or longer: no cell is seen twice.
    if (stride >= taps) return pairs();
    // Else the outputs' windows leave no gap, from ghost cells (or the first cell) on.
    return std::clamp<std::int64_t>((outputs - 1) * stride - padding + taps, 0, cells);
  }
};

}  // namespace halo::conv::internal
