#include "common/simt/machine/rounding.hpp"

#include <utility>

namespace simt::machine {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kPlaces = 52;
constexpr int kTop = 125;  // the uppermost bit of an Exact that is not zero

// +-magnitude * 2^exponent. The last bit of the magnitude is set if anything behind it was: enough to round by, and never
// lost where numbers cancel, for two that are far apart don't cancel.
struct Exact {
  bool negative = false;
  int exponent = 0;
  Wide magnitude = 0;
};

int length(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return 128 - (high != 0 ? std::countl_zero(high)
                          : 64 + std::countl_zero(static_cast<std::uint64_t>(value)));
}

// Shifted right, with the last bit set if one was lost.
Wide jam(Wide value, int by) {
  if (by <= 0) return value;
  if (by >= 128) return value != 0;
  return value >> by | ((value & ((Wide{1} << by) - 1)) != 0);
}

Exact with_top(Exact number) {
  if (number.magnitude == 0) return number;
  const int by = kTop + 1 - length(number.magnitude);
  number.magnitude = by >= 0 ? number.magnitude << by : jam(number.magnitude, -by);
  number.exponent -= by;
  return number;
}

// Of a finite number, with all of its 53 bits in use.
struct Parts {
  bool negative;
  int exponent;
  std::uint64_t magnitude;
};
Parts parts(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int stored = static_cast<int>(bits >> kPlaces & 2047);
  std::uint64_t magnitude = bits & ((std::uint64_t{1} << kPlaces) - 1);
  if (stored != 0) magnitude |= std::uint64_t{1} << kPlaces;
  if (magnitude == 0) return {bits >> 63 != 0, 0, 0};
  const int by = std::countl_zero(magnitude) - (63 - kPlaces);
  return {bits >> 63 != 0, (stored != 0 ? stored : 1) - 1023 - kPlaces - by, magnitude << by};
}
Exact exact(double value) {
  const Parts its = parts(value);
  return with_top({its.negative, its.exponent, its.magnitude});
}
Exact product(double a, double b) {
  const Parts x = parts(a), y = parts(b);
  return with_top(
      {x.negative != y.negative, x.exponent + y.exponent, Wide{x.magnitude} * y.magnitude});
}

Exact sum(Exact a, Exact b) {
  if (a.magnitude == 0) return b;
  if (b.magnitude == 0) return a;
  if (a.exponent < b.exponent) std::swap(a, b);
  const Wide other = jam(b.magnitude, a.exponent - b.exponent);
  if (a.negative == b.negative) return with_top({a.negative, a.exponent, a.magnitude + other});
  if (a.magnitude >= other) return with_top({a.negative, a.exponent, a.magnitude - other});
  return with_top({b.negative, a.exponent, other - a.magnitude});
}

double round(const Exact& number, Rounding rounding) {
  const double sign = number.negative ? -1.0 : 1.0;
  if (number.magnitude == 0) return sign * 0.0;
  const int exponent = number.exponent + kTop;  // of the number's uppermost bit
  constexpr int kLeast = -1022;
  const int shift = kTop - kPlaces + (exponent < kLeast ? kLeast - exponent : 0);
  const Wide half = shift < 127 ? Wide{1} << (shift - 1) : Wide{1} << 126;
  const Wide rest = shift < 127 ? number.magnitude & (2 * half - 1) : number.magnitude;
  auto result = shift < 127 ? static_cast<std::uint64_t>(number.magnitude >> shift) : 0;
  const bool up = rounding == Rounding::nearest
                      ? rest > half || (rest == half && (result & 1) != 0)
                      : rest != 0 && rounding == (number.negative ? Rounding::down : Rounding::up);
  result += up;
  if (exponent >= kLeast) {
    if (exponent > 1023 || (exponent == 1023 && result >> (kPlaces + 1) != 0)) {
      const bool stays = rounding != Rounding::nearest &&
                         rounding != (number.negative ? Rounding::down : Rounding::up);
      return sign *
             (stays ? std::numeric_limits<double>::max() : std::numeric_limits<double>::infinity());
    }
    result += static_cast<std::uint64_t>(exponent - kLeast) << kPlaces;
  }
  return sign * std::bit_cast<double>(result);
}

bool are_finite(double a, double b) { return std::isfinite(a) && std::isfinite(b); }

// Of numbers that add up to nothing.
double zero_sum(double a, double b, Rounding rounding) {
  if (std::signbit(a) == std::signbit(b)) return a;
  return rounding == Rounding::down ? -0.0 : 0.0;
}

}  // namespace

double add(double a, double b, Rounding rounding) {
  if (!are_finite(a, b)) return a + b;
  const Exact all = sum(exact(a), exact(b));
  if (all.magnitude != 0) return round(all, rounding);
  return zero_sum(a, b, rounding);
}

double multiply(double a, double b, Rounding rounding) {
  if (!are_finite(a, b)) return a * b;
  return round(product(a, b), rounding);
}

double multiply_add(double a, double b, double c, Rounding rounding) {
  if (!are_finite(a, b) || !std::isfinite(c)) return std::fma(a, b, c);
  const Exact its = product(a, b), all = sum(its, exact(c));
  if (all.magnitude != 0) return round(all, rounding);
  return zero_sum(its.negative ? -0.0 : 0.0, c, rounding);
}

double divide(double a, double b, Rounding rounding) {
  if (!are_finite(a, b) || a == 0 || b == 0) return a / b;
  const Parts x = parts(a), y = parts(b);
  constexpr int kFurther = 70;
  const Wide dividend = Wide{x.magnitude} << kFurther;
  const Wide quotient = dividend / y.magnitude;
  const bool has_rest = quotient * y.magnitude != dividend;
  return round(with_top({x.negative != y.negative, x.exponent - y.exponent - kFurther - 1,
                         quotient << 1 | has_rest}),
               rounding);
}

double square_root(double a, Rounding rounding) {
  const double nearest = std::sqrt(a);
  if (!std::isfinite(nearest) || nearest == 0) return nearest;
  // Whether it is too large or too small; the square of a double is exact here.
  Exact square = product(nearest, nearest);
  square.negative = true;
  const Exact rest = sum(exact(a), square);
  if (rest.magnitude == 0) return nearest;
  const auto bits = std::bit_cast<std::uint64_t>(nearest);
  if (rest.negative && (rounding == Rounding::down || rounding == Rounding::zero)) {
    return std::bit_cast<double>(bits - 1);
  }
  if (!rest.negative && rounding == Rounding::up) return std::bit_cast<double>(bits + 1);
  return nearest;
}

double whole_to_double(bool negative, std::uint64_t magnitude, Rounding rounding) {
  if (magnitude == 0) return 0;
  return round(with_top({negative, 0, magnitude}), rounding);
}

}  // namespace simt::machine
