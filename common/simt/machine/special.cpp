// A table interpolator (Oberman, Siu: "A High-Performance Area-Efficient Multifunction Interpolator", ARITH-17, 2005): the
// upper places of an argument's mantissa choose a polynomial of second degree, for which the lower ones are x. The
// coefficients are the only whole numbers of their size with which each result is the one that an H200 gave, for all
// mantissas.
#include "common/simt/machine/special.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/simt/machine/rounding.hpp"

namespace simt::machine::special {
namespace {

// c0 counts eighths of a result's last place, c1 and c2 what sum_of counts.
struct Polynomial {
  std::int32_t c0, c1, c2;
};
#include "common/simt/machine/special.inc"

constexpr int kPlaces = 17;  // of x
constexpr std::uint32_t kMantissa = (1u << 23) - 1, kLower = (1u << kPlaces) - 1;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::bit_cast<float>(kNan32);

// x^2 >> 19. The hardware's multiplier leaves out the products of two places that are worth less than that, so it is not
// quite the square.
std::int64_t squared(std::uint32_t x) {
  std::uint32_t sum = 0;
#pragma GCC unroll 7
  for (int i = 10; i < kPlaces; ++i) {
    const std::uint32_t with_lower = (x >> (18 - i)) & ((1u << (2 * i - 18)) - 1);
    sum += (0u - (x >> i & 1)) & (with_lower + (1u << (2 * i - 19)));
  }
  return sum;
}

// Its unit is 2^-17 of the last place that the table's results have. `rest` makes up for what is cut off.
std::int64_t sum_of(const Polynomial& its, std::uint32_t x, int rest) {
  return (std::int64_t{its.c0} << 14) + rest + std::int64_t{its.c1} * x + its.c2 * squared(x);
}

// The upper six places of 23 choose.
std::int64_t of_table(const Polynomial* table, std::uint32_t mantissa, int rest) {
  return sum_of(table[mantissa >> kPlaces], mantissa & kLower, rest);
}

// sum * 2^exponent, cut off after 24 places.
float cut_off(std::int64_t sum, int exponent) {
  constexpr std::uint64_t kBeyond = (std::uint64_t{1} << 29) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(sum)) & ~kBeyond;
  const double scale =
      std::bit_cast<double>(static_cast<std::uint64_t>(std::int64_t{exponent} + 1023) << 52);
  const double value = std::bit_cast<double>(bits) * scale;
  return std::abs(value) < std::numeric_limits<float>::min()
             ? static_cast<float>(std::copysign(0.0, value))
             : static_cast<float>(value);
}

struct Parts {
  std::uint32_t mantissa;
  int exponent;
};
Parts parts_of(float a) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  return {bits & kMantissa, static_cast<int>(bits >> 23 & 0xff) - 127};
}
bool is_zero(float a) { return std::abs(a) < std::numeric_limits<float>::min(); }

// The mantissa's seven upper places choose. In units of 2^-41.
std::int64_t reciprocal_of(std::uint32_t mantissa) {
  return sum_of(kReciprocal[mantissa >> 16], mantissa << 1 & kLower, 8094);
}
// From 1 to 4: those from 2 have a table of their own.
std::int64_t reciprocal_root_of(std::uint32_t mantissa, bool is_from_two) {
  if (mantissa == 0 && !is_from_two) return std::int64_t{1} << 41;
  return of_table(kReciprocalRoot + (is_from_two ? 64 : 0), mantissa, 32767);
}

// Places of a turn after the second: of sine's first quarter.
float of_quarter(std::uint32_t places) { return cut_off(of_table(kSine, places, 0), -41); }

// Of the angle's size; `quarters` are added.
float of_angle(float turns, int quarters) {
  const double size = std::abs(static_cast<double>(turns));
  const auto places = static_cast<std::uint32_t>((size - std::trunc(size)) * 0x1p25);
  const std::uint32_t quarter = (places >> 23) + static_cast<std::uint32_t>(quarters);
  // It goes back as it has come.
  const float value = of_quarter(quarter & 1 ? ~places & kMantissa : places & kMantissa);
  return quarter & 2 ? -value : value;
}

}  // namespace

float reciprocal(float a) {
  if (std::isnan(a)) return kNaN;
  if (is_zero(a)) return std::copysign(kInfinity, a);
  if (std::isinf(a)) return std::copysign(0.0f, a);
  const auto [mantissa, exponent] = parts_of(a);
  return std::copysign(cut_off(reciprocal_of(mantissa), -41 - exponent), a);
}

float reciprocal_root(float a) {
  if (is_zero(a)) return std::copysign(kInfinity, a);
  if (std::isnan(a) || a < 0) return kNaN;
  if (std::isinf(a)) return 0;
  const auto [mantissa, exponent] = parts_of(a);
  const int half = exponent >> 1;
  return cut_off(reciprocal_root_of(mantissa, exponent & 1), -41 - half);
}

float root(float a) {
  if (is_zero(a)) return std::copysign(0.0f, a);
  if (std::isnan(a) || a < 0) return kNaN;
  if (std::isinf(a)) return a;
  const auto [mantissa, exponent] = parts_of(a);
  return cut_off(of_table(kRoot + (exponent & 1 ? 64 : 0), mantissa, 32767), -40 + (exponent >> 1));
}

float power_of_two(float a) {
  if (std::isnan(a)) return kNaN;
  if (a >= 128) return kInfinity;
  if (a < -150) return 0;
  const auto size = static_cast<std::int64_t>(std::abs(static_cast<double>(a)) * 0x1p23);
  // Of a negative number the places are turned over, but where none is left.
  const std::int64_t places = a >= 0 ? size : (size & kMantissa) != 0 ? ~size : -size;
  const auto mantissa = static_cast<std::uint32_t>(places) & kMantissa;
  const int whole = static_cast<int>(places >> 23);
  return cut_off(of_table(kPowerOfTwo, mantissa, 24458), -40 + whole);
}

float logarithm(float a) {
  if (is_zero(a)) return -kInfinity;
  if (std::isnan(a) || a < 0) return kNaN;
  if (std::isinf(a)) return a;
  if (a == 1) return 0;
  const auto [mantissa, exponent] = parts_of(a);
  // 36 places after the point.
  std::int64_t sum = (std::int64_t{exponent} << 36) + (of_table(kLogarithm, mantissa, 3350) >> 4);
  if (sum < 0) ++sum;  // its places are turned over, too
  return cut_off(sum, -36);
}

float sine(float turns) {
  if (!std::isfinite(turns)) return kNaN;
  const float value = of_angle(turns, 0);
  return std::signbit(turns) ? -value : value;
}

float cosine(float turns) { return std::isfinite(turns) ? of_angle(turns, 1) : kNaN; }

float hyperbolic_tangent(float a) {
  if (std::isnan(a)) return kNaN;
  const auto [mantissa, exponent] = parts_of(a);
  if (exponent < -8) return a;
  // How many places of the mantissa choose, and where an exponent's polynomials begin.
  constexpr int kChoosing[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3},
                kFirst[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
  if (exponent > 2) return std::copysign(1.0f, a);
  const int choosing = kChoosing[exponent + 8];
  const Polynomial& its =
      kTangent[kFirst[exponent + 8] + static_cast<int>(mantissa >> (23 - choosing))];
  return std::copysign(cut_off(sum_of(its, mantissa >> (6 - choosing) & kLower, 0), -41), a);
}

// ---- Of doubles: what stands in the upper word decides, as much of it as a table takes. ----

namespace {

constexpr std::uint64_t kUpper = std::uint64_t{0xffff'ffff} << 32;

struct UpperParts {
  std::uint32_t mantissa;  // its 20 places, and three zeros
  int exponent;
};
UpperParts upper_parts_of(double a) {
  const auto bits = std::bit_cast<std::uint64_t>(a);
  return {static_cast<std::uint32_t>(bits >> 29) & kMantissa & ~7u,
          static_cast<int>(bits >> 52 & 2047) - 1023};
}
bool is_zero(double a) { return std::abs(a) < std::numeric_limits<double>::min(); }
double upper_word_of(double a) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & kUpper);
}
double upper_nan() { return std::bit_cast<double>(std::uint64_t{kNan32} << 32); }
// sum * 2^exponent, cut off after the 20 places of the upper word's mantissa.
double upper_cut_off(std::int64_t sum, int exponent) {
  const double value = std::ldexp(upper_word_of(static_cast<double>(sum)), exponent);
  return is_zero(value) ? 0 : value;
}

}  // namespace

double reciprocal(double of) {
  const double a = upper_word_of(of);
  if (std::isnan(a)) return upper_nan();
  if (is_zero(a)) return std::copysign(std::numeric_limits<double>::infinity(), a);
  if (std::isinf(a)) return std::copysign(0.0, a);
  const auto [mantissa, exponent] = upper_parts_of(a);
  return std::copysign(upper_cut_off(reciprocal_of(mantissa), -41 - exponent), a);
}

double reciprocal_root(double of) {
  const double a = upper_word_of(of);
  if (is_zero(a)) return std::copysign(std::numeric_limits<double>::infinity(), a);
  if (std::isnan(a) || a < 0) return upper_nan();
  if (std::isinf(a)) return 0;
  const auto [mantissa, exponent] = upper_parts_of(a);
  return upper_cut_off(reciprocal_root_of(mantissa, exponent & 1), -41 - (exponent >> 1));
}

}  // namespace simt::machine::special
