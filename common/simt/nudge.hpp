// Other inputs than the host knows. While a kernel runs, numbers in memory that are as round as people's own are some units
// in the last place off, and afterwards they are themselves again: what a kernel makes of its inputs differs by that, what
// the host has computed of its own copies does not. A judge that knows the key tells the two apart (SIMT_JUDGE).
#pragma once

#include <bit>
#include <cstdint>

namespace simt {

/// The float in a kernel's place of one in the host's, and the other way round: done twice it is the same again, so that it
/// does not matter who wrote it. Moved are those of 2^-2 to 2^16 whose last 7 bits are 0, by 16 to 127 units in the last
/// place, which depend on the key and the other bits; a key of 0 moves none.
inline std::uint32_t nudged(std::uint32_t word, std::uint64_t key) {
  constexpr std::uint32_t kLast = 127, kSign = 1U << 31, kLeast = 125, kMost = 143;  // exponents
  const std::uint32_t exponent = word >> 23 & 255;
  if (key == 0 || exponent < kLeast || exponent >= kMost) return word;
  const std::uint32_t others = word & ~kLast;
  std::uint64_t mixed = (others & ~kSign) + key;
  mixed = (mixed ^ mixed >> 31) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
  const auto units = static_cast<std::uint32_t>(16 + (mixed >> 32) % 112);
  const std::uint32_t last = word & kLast;
  return last == 0 ? others | units : last == units ? others : word;
}
inline float nudged(float value, std::uint64_t key) {
  return std::bit_cast<float>(nudged(std::bit_cast<std::uint32_t>(value), key));
}

}  // namespace simt
