// The sums of tensor cores, bit by bit those of an H200: products are exact, then all addends, the accumulator among them, are
// brought to the greatest exponent and cut off 25 places behind it, and so is their sum where a float ends. The exponent of
// a product is the sum of its factors', also if the product has one more place before the point. Zeros have no say.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace simt::tensor {

/// value * 2^(top - 10) of a factor: `top` is the exponent that it is stored with.
struct Factor {
  std::int32_t value, top;
};

inline constexpr int kFactorPlaces = 10;
inline constexpr int kNoTop = -1000;
inline constexpr unsigned kMostAtOnce = 16;  // products
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

/// sum + a[0] * b[0] + ... + a[depth - 1] * b[depth - 1], of finite numbers.
inline Sum add_products(float start, const Factor* a, const Factor* b, unsigned depth) {
  const auto start_bits = std::bit_cast<std::uint32_t>(start);
  const std::uint32_t stored = start_bits >> kFloatPlaces & 255;
  const std::uint32_t fraction = (start_bits & 0x7f'ffff) | (stored != 0 ? 0x80'0000 : 0);
  // Of a product 27 bits, of the accumulator 26.
  std::int32_t values[kMostAtOnce + 1];
  std::int32_t tops[kMostAtOnce + 1];
  values[depth] = static_cast<std::int32_t>(fraction << (kKeptPlaces - kFloatPlaces));
  if (start_bits >> 31 != 0) values[depth] = -values[depth];
  tops[depth] = fraction != 0 ? static_cast<int>(std::max(stored, 1u)) - 127 : kNoTop;
  int top = tops[depth];
  for (unsigned k = 0; k < depth; ++k) {
    values[k] = a[k].value * b[k].value * (1 << (kKeptPlaces - 2 * kFactorPlaces));
    tops[k] = a[k].top + b[k].top;
    top = std::max(top, tops[k]);
  }
  std::int64_t sum = 0;
  for (unsigned k = 0; k <= depth; ++k) {
    const int shift = std::min(top - tops[k], 31);
    const std::int32_t part = std::abs(values[k]) >> shift;
    sum += values[k] < 0 ? -part : part;
  }
  return {sum, top};
}

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
