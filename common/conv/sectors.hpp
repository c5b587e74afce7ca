// The arithmetic of memory traffic in 32-byte sectors, for exact predictions.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace halo::conv {

/// Bytes of a sector, the unit in which global memory is read and written, and floats in it.
inline constexpr int kSectorBytes = 32;
inline constexpr int kSectorFloats = kSectorBytes / 4;

/// The number of aligned 32-byte sectors that the floats [first, end) of an array touch, when the
/// array itself starts on a sector (device allocations start on a multiple of 256 bytes). 0 for an
/// empty range (end <= first). Throws std::invalid_argument if a range that is not empty begins
/// before the array: such cells do not exist, so the caller has to cut the range first.
constexpr std::int64_t sectors_touched(std::int64_t first, std::int64_t end) {
  if (end <= first) return 0;
  if (first < 0) throw std::invalid_argument("sectors_touched: the range begins before the array");
  return (end - 1) / kSectorFloats - first / kSectorFloats + 1;
}

}  // namespace halo::conv
