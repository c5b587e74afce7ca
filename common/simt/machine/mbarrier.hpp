// A barrier in shared memory: 64 bits, whose layout PTX leaves open.
#pragma once

#include <algorithm>
#include <cstdint>

namespace simt::machine {

struct Mbarrier {
  std::uint64_t word = 0;

  // Bits: 0 to 19 arrivals that are missing, 20 to 39 how many a phase has, 40 to 60 bytes that are missing, 61 to 63 the
  // phase.
  static constexpr std::uint64_t kCount = (1 << 20) - 1;
  std::uint32_t pending() const { return static_cast<std::uint32_t>(word & kCount); }
  std::uint32_t expected() const { return static_cast<std::uint32_t>(word >> 20 & kCount); }
  std::int32_t bytes() const {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(word << 3) >> 43);
  }
  std::uint32_t phase() const { return static_cast<std::uint32_t>(word >> 61); }
  void set(std::uint32_t pending, std::uint32_t expected, std::int32_t bytes, std::uint32_t phase) {
    word = pending | std::uint64_t{expected} << 20 |
           (static_cast<std::uint64_t>(bytes) & ((1 << 21) - 1)) << 40 |
           std::uint64_t{phase & 7} << 61;
  }
  void arrive(std::uint32_t count, std::int32_t more_bytes, std::uint32_t dropped = 0) {
    const std::int32_t missing = bytes() + more_bytes;
    const std::uint32_t still = pending() - std::min(count, pending());
    const std::uint32_t of_phase = expected() - dropped;
    if (still == 0 && missing == 0) {
      set(of_phase, of_phase, 0, phase() + 1);
    } else {
      set(still, of_phase, missing, phase());
    }
  }
};

}  // namespace simt::machine
