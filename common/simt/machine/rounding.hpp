// Rounding in every direction and to every format, by arithmetic alone: never by the processor's rounding mode, which the
// compiler knows nothing of. Results are those of IEEE 754; what it leaves open is as an H200 has it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace simt::machine {

/// .rn, .rna (of two equally near the one farther from zero), .rz, .rm, .rp
enum class Rounding : std::uint8_t { nearest, away, zero, down, up };

/// A format of binary floating-point numbers: the places of its fraction, and the bits of its exponent.
struct Format {
  int places;
  int exponent_bits;
  bool has_infinity = true;

  constexpr int least() const { return 2 - (1 << (exponent_bits - 1)); }  // of normal numbers
  constexpr std::uint32_t nan() const { return (1u << (places + exponent_bits)) - 1; }
  constexpr std::uint32_t infinity() const { return nan() >> places << places; }
  /// The greatest number.
  constexpr std::uint32_t greatest() const { return (has_infinity ? infinity() : nan()) - 1; }
  constexpr std::uint32_t sign() const { return nan() + 1; }
};
inline constexpr Format kF16{10, 5}, kBf16{7, 8}, kTf32{10, 8}, kF32{23, 8}, kE5m2{2, 5};
inline constexpr Format kE4m3{3, 4, false};

/// The only NaN that comes out of arithmetic on f32.
inline constexpr std::uint32_t kNan32 = 0x7fff'ffff;

/// A result with the NaN that the GPU has: of f64 the last operand's that is one, quiet.
template <class... From>
float settled(float value, From...) {
  return value == value ? value : std::bit_cast<float>(kNan32);
}
template <class... From>
double settled(double value, From... from) {
  if (value == value) return value;
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
  std::uint64_t bits = 0xfff8'0000'0000'0000;
  for (const double one : {static_cast<double>(from)...}) {
    if (one != one) bits = std::bit_cast<std::uint64_t>(one) | kQuiet;
  }
  return std::bit_cast<double>(bits);
}

/// The bits of the number of the format that `value` is rounded to. `finite`: what is too large is the greatest number.
template <Format format>
std::uint32_t narrow(double value, Rounding rounding, bool finite = false) {
  constexpr int kPlaces = 52, kLeast = format.least();
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const std::uint32_t sign = negative ? format.sign() : 0;
  const int stored = static_cast<int>(bits >> kPlaces & 2047);
  std::uint64_t magnitude = bits & ((std::uint64_t{1} << kPlaces) - 1);
  if (stored == 2047) {
    if (magnitude != 0) return format.nan();
    return sign | (finite || !format.has_infinity ? format.greatest() : format.infinity());
  }
  magnitude |= std::uint64_t{stored != 0} << kPlaces;
  const int exponent = (stored != 0 ? stored : 1) - 1023;
  const int below = exponent < kLeast ? kLeast - exponent : 0;
  const int shift = kPlaces - format.places + (below < 60 ? below : 60);
  // More than all 53 bits: nothing is left but that there was something.
  const int kept = shift < 63 ? shift : 63;
  const std::uint64_t half = std::uint64_t{1} << (kept - 1);
  const std::uint64_t rest = magnitude & (2 * half - 1);
  std::uint64_t result = magnitude >> kept;
  bool up = false;
  switch (rounding) {
    case Rounding::nearest:
      up = rest > half || (rest == half && (result & 1) != 0);
      break;
    case Rounding::away:
      up = rest >= half;
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      up = negative && rest != 0;
      break;
    case Rounding::up:
      up = !negative && rest != 0;
      break;
  }
  result += up;
  if (below == 0) result += static_cast<std::uint64_t>(exponent - kLeast) << format.places;
  if (result > format.greatest()) {
    const bool stays = rounding == Rounding::zero || (rounding == Rounding::down && !negative) ||
                       (rounding == Rounding::up && negative);
    result = finite || stays || !format.has_infinity ? format.greatest() : format.infinity();
  }
  return sign | static_cast<std::uint32_t>(result);
}

/// The number whose bits these are.
template <Format format>
float widen(std::uint32_t bits) {
  if constexpr (format.exponent_bits == kF32.exponent_bits) {
    return std::bit_cast<float>(bits << (kF32.places - format.places));
  }
  const std::uint32_t magnitude = bits & format.nan();
  const float sign = (bits & format.sign()) != 0 ? -1.0f : 1.0f;
  if (format.has_infinity ? magnitude > format.infinity() : magnitude == format.nan()) {
    return std::bit_cast<float>(kNan32);
  }
  if (format.has_infinity && magnitude == format.infinity()) {
    return sign * std::numeric_limits<float>::infinity();
  }
  // The exponent counts from elsewhere: one multiplication, exact for subnormal numbers too.
  constexpr auto kScale = std::bit_cast<float>(
      static_cast<std::uint32_t>(127 + format.least() - kF32.least()) << kF32.places);
  return sign * (std::bit_cast<float>(magnitude << (kF32.places - format.places)) * kScale);
}

/// What a + b rounded to nearest leaves.
inline double rest_of_sum(double a, double b, double sum) {
  const double other = sum - a;
  return (a - (sum - other)) + (b - other);
}

/// value + rest, `rest` being less than value's last place: the double nearest to it that is odd in its last place unless
/// exact. Rounded further, to a format with two places less, it gives what the exact number would.
inline double to_odd(double value, double rest) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (!(std::abs(rest) > 0) || (bits & 1) != 0 || !std::isfinite(value)) return value;
  return std::bit_cast<double>((rest > 0) == (value > 0) ? bits + 1 : bits - 1);
}

/// a * b + c of floats, fit to be rounded to any format of at most 24 places.
inline double multiply_add_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double sum = product + static_cast<double>(c);
  return to_odd(sum, rest_of_sum(product, static_cast<double>(c), sum));
}

/// value + rest, `rest` being less than value's last place, as a float.
inline float to_float(double value, double rest, Rounding rounding) {
  const auto nearest = static_cast<float>(value);
  const double beyond = value - static_cast<double>(nearest);
  const double off = beyond == 0 ? rest : beyond;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (rounding == Rounding::zero && ((nearest > 0 && off < 0) || (nearest < 0 && off > 0))) {
    return std::bit_cast<float>(bits - 1);
  }
  if (rounding == Rounding::down && off < 0) {
    return std::bit_cast<float>(nearest > 0 ? bits - 1 : nearest < 0 ? bits + 1 : 0x8000'0001u);
  }
  if (rounding == Rounding::up && off > 0) {
    return std::bit_cast<float>(nearest < 0 ? bits - 1 : nearest > 0 ? bits + 1 : 1u);
  }
  return settled(nearest);
}

/// A whole number and its sign, fit to be rounded to any format of at most 24 places.
inline double whole_to_odd(bool negative, std::uint64_t magnitude) {
  const int lost = magnitude >> 53 == 0 ? 0 : 11 - std::countl_zero(magnitude);
  const std::uint64_t kept = magnitude >> lost;
  const bool is_exact = kept << lost == magnitude;
  const double value = static_cast<double>(kept | static_cast<std::uint64_t>(!is_exact)) *
                       static_cast<double>(std::uint64_t{1} << lost);
  return negative ? -value : value;
}

// Doubles in one direction.
double add(double a, double b, Rounding rounding);
double multiply(double a, double b, Rounding rounding);
double multiply_add(double a, double b, double c, Rounding rounding);
double divide(double a, double b, Rounding rounding);
double square_root(double a, Rounding rounding);
/// A whole number and its sign.
double whole_to_double(bool negative, std::uint64_t magnitude, Rounding rounding);
}  // namespace simt::machine
