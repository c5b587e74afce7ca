// What the stages' predictions are written with: cells and the warps that touch them. A prediction
// walks the warps as the algorithm lays them out and adds what each must cost; it runs no kernel and
// looks at no data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/conv/sectors.hpp"
#include "common/harness/kernel.h"

namespace halo {

constexpr int kBanks = 32;

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

// Sectors that one request touches whose lanes have these cells, in any order.
inline std::uint64_t sectors_of(std::vector<std::int64_t> cells) {
  for (std::int64_t& cell : cells) cell = cell * 4 / conv::kSectorBytes;
  std::sort(cells.begin(), cells.end());
  return std::unique(cells.begin(), cells.end()) - cells.begin();
}

// Wavefronts of one request to shared memory, 4 bytes a lane, whose lanes have these cells, in any
// order: the most different cells that one bank has to give. What is beyond 1 is conflicts.
inline std::uint64_t wavefronts_of(std::vector<std::int64_t> cells) {
  std::sort(cells.begin(), cells.end());
  const auto end = std::unique(cells.begin(), cells.end());
  std::array<std::uint64_t, kBanks> depth{};
  for (auto cell = cells.begin(); cell != end; ++cell) ++depth[*cell % kBanks];
  return *std::max_element(depth.begin(), depth.end());
}

// Wavefronts of a request to shared memory whose `lanes` lanes have 16 neighbouring bytes each, or 16
// bytes at a stride that meets all banks alike: eight lanes share 128 bytes.
constexpr std::uint64_t quad_wavefronts(std::int64_t lanes) { return (lanes + 7) / 8; }

// Calls visit(warp's cells) for each warp of one block, when thread t has cell block_start + t.
template <class Visit>
void for_each_warp(std::int64_t block_start, int threads, Visit visit) {
  for (int t = 0; t < threads; t += kWarpSize) {
    visit(Cells{block_start + t, block_start + std::min(t + kWarpSize, threads)});
  }
}

}  // namespace halo
