// What the predictions of the 1D stages are written with: cells and the warps that touch them. A
// prediction walks the warps as the algorithm lays them out and adds what each must cost; it runs
// no kernel and looks at no data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/conv/sectors.hpp"
#include "common/harness/conv1d.hpp"

namespace halo {

constexpr int kWarpSize = 32;

// Neighbouring cells [begin, end) of an array; empty if end <= begin.
struct Cells {
  std::int64_t begin;
  std::int64_t end;

  bool empty() const { return end <= begin; }
  Cells shifted(std::int64_t by) const { return {begin + by, end + by}; }
  Cells within(Cells other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
  // 32-byte sectors that one request for these cells touches.
  std::uint64_t sectors() const {
    return static_cast<std::uint64_t>(conv::sectors_touched(begin, end));
  }
};

// The signal, and the outputs that are computed.
inline Cells signal(const Conv1dShape& shape) { return {0, shape.length}; }
inline Cells outputs(const Conv1dShape& shape) { return {shape.first, shape.last}; }

// Sectors that one request touches whose lanes have these cells, in any order.
inline std::uint64_t sectors_of(std::vector<std::int64_t> cells) {
  for (std::int64_t& cell : cells) cell = cell * 4 / conv::kSectorBytes;
  std::sort(cells.begin(), cells.end());
  return std::unique(cells.begin(), cells.end()) - cells.begin();
}

// Wavefronts of a shared-memory request whose `lanes` lanes have 16 neighbouring bytes each, or 16
// bytes at a stride that meets all banks alike: eight lanes share 128 bytes.
constexpr std::uint64_t quad_wavefronts(std::int64_t lanes) { return (lanes + 7) / 8; }

// Calls visit(warp's cells) for each warp of one block, when thread t has cell block_start + t.
template <class Visit>
void for_each_warp(std::int64_t block_start, int threads, Visit visit) {
  for (int t = 0; t < threads; t += kWarpSize) {
    visit(Cells{block_start + t, block_start + std::min(t + kWarpSize, threads)});
  }
}

// Calls visit(start of the block's tile) for each block of the grid that covers the signal.
template <class Visit>
void for_each_block(const Conv1dShape& shape, Visit visit) {
  for (std::int64_t start = 0; start < shape.length; start += shape.threads) visit(start);
}

}  // namespace halo
