// The sums of tensor cores, bit by bit those of an H200: products are exact, then all addends, the accumulator among them, are
// brought to the greatest exponent and cut off 25 places behind it, and so is their sum where a float ends. The exponent of
// a product is the sum of its factors', also if the product has one more place before the point. Zeros have no say.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace simt::tensor {

/// value * 2^(top - 10) of a factor: `top` is the exponent that it is stored with.
struct Factor {
  std::int32_t value, top;
};

inline constexpr int kFactorPlaces = 10;
inline constexpr int kNoTop = -1000;
inline constexpr unsigned kMostAtOnce = 16;  // products, but for numbers of 8 bits
inline constexpr std::uint32_t kInfinity = 0x7f80'0000;
inline constexpr std::uint32_t kNan = 0x7fff'ffff;  // the only one that comes out

/// Of a finite number whose fraction has so many places, of which only the first 10 count.
inline Factor factor(std::uint32_t bits, int places, int exponent_bits) {
  const std::uint32_t fraction_mask = (1u << places) - 1;
  const auto stored = static_cast<int>(bits >> places & ((1u << exponent_bits) - 1));
  const std::uint32_t fraction = (bits & fraction_mask) | (stored != 0 ? 1u << places : 0);
  const std::uint32_t kept = places > kFactorPlaces ? fraction >> (places - kFactorPlaces)
                                                    : fraction << (kFactorPlaces - places);
  if (kept == 0) return {0, kNoTop};
  const bool negative = (bits >> (places + exponent_bits) & 1) != 0;
  const auto magnitude = static_cast<std::int32_t>(kept);
  return {negative ? -magnitude : magnitude,
          std::max(stored, 1) - ((1 << (exponent_bits - 1)) - 1)};
}

inline constexpr int kFloatPlaces = 23;
inline constexpr int kKeptPlaces = 25;  // of a sum, behind the greatest top

/// A sum, and the exponent that its places count from: value * 2^(top - 25).
struct Sum {
  std::int64_t value = 0;
  std::int32_t top = kNoTop;
};

/// Columns that are summed at once.
inline constexpr int kWide = 8;
struct Sums {
  std::array<std::int64_t, kWide> value;
  std::array<std::int32_t, kWide> top;
};
/// Factors of a line, or of kWide neighbouring ones: those of product k are at k * stride.
struct Factors {
  const std::int32_t* value;
  const std::int32_t* top;
  std::size_t stride;
};
inline constexpr unsigned kMostProducts = 32;

/// start[i] + left[0] * right[0][i] + ... + left[depth - 1] * right[depth - 1][i], of finite numbers, cut off so many
/// places behind the greatest top.
void add_products(const std::array<float, kWide>& start, const Factors& left, const Factors& right,
                  unsigned depth, int places, Sums& sums);

/// As a float, what does not fit cut off; never a negative zero. Of a sum with another number of places.
inline float to_float(const Sum& sum, int kept = kKeptPlaces) {
  if (sum.value == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum.value));
  const int length = 64 - std::countl_zero(magnitude);
  const int exponent = sum.top - kept + length - 1;
  const std::uint32_t sign = sum.value < 0 ? 0x8000'0000 : 0;
  if (exponent > 127) return std::bit_cast<float>(sign | kInfinity);
  // Of the result's last place, and of the sum's.
  const int shift = std::max(exponent, -126) - kFloatPlaces - (sum.top - kept);
  const auto fraction = static_cast<std::uint32_t>(shift > 63  ? 0
                                                   : shift > 0 ? magnitude >> shift
                                                               : magnitude << -shift);
  const std::uint32_t its =
      exponent < -126 ? fraction
                      : (static_cast<std::uint32_t>(exponent + 126) << kFloatPlaces) + fraction;
  return its == 0 ? 0.0f : std::bit_cast<float>(sign | its);
}

}  // namespace simt::tensor
