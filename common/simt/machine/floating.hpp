// What operations on floating-point numbers are made of; a lane's operation each.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/simt/machine/rounding.hpp"

namespace simt::machine {

/// Numbers below the normal ones are zeros, with their sign.
struct Flush {
  float operator()(float value) const {
    return std::abs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
  }
  template <class T>
  T operator()(T value) const {
    return value;
  }
};
/// .ftz: before the operation and after.
template <class Operation>
struct Flushed {
  template <class... From>
  auto operator()(From... from) const {
    return Flush{}(Operation{}(Flush{}(from)...));
  }
};
/// .sat: to [0, 1]. NaN and -0 are 0.
template <class Operation>
struct Saturated {
  template <class... From>
  auto operator()(From... from) const {
    const auto value = Operation{}(from...);
    using T = decltype(value);
    return value > 0 ? std::min<T>(value, 1) : T{0};
  }
};

/// Of two numbers a NaN loses, and -0 is less than +0 (PTX ISA 9.7.3.11).
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    if (a == b) return std::signbit(a) ? a : b;
    return settled(std::isnan(a) || b < a ? b : a, a, b);
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    if (a == b) return std::signbit(a) ? b : a;
    return settled(std::isnan(a) || b > a ? b : a, a, b);
  }
};
/// .NaN: there it wins.
template <class Operation>
struct WithNaN {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return settled(std::numeric_limits<T>::quiet_NaN(), a, b);
    return Operation{}(a, b);
  }
};

/// 2^a, rounded from a double that is right to 50 bits.
inline float power_of_two(float a) {
  if (!(a == a)) return std::bit_cast<float>(kNan32);
  const double x = std::clamp(static_cast<double>(a), -200.0, 200.0);
  const double whole = std::nearbyint(x);
  const double r = (x - whole) * 0.693147180559945309417;  // at most ln 2 / 2
  // The exponential series, from its last term: 0.35^14 / 14! is less than 2^-57.
  constexpr double kFactors[] = {1.0 / 13, 1.0 / 12, 1.0 / 11, 1.0 / 10, 1.0 / 9, 1.0 / 8, 1.0 / 7,
                                 1.0 / 6,  1.0 / 5,  1.0 / 4,  1.0 / 3,  1.0 / 2, 1.0};
  double sum = 1;
  for (const double factor : kFactors) sum = 1 + sum * (r * factor);
  const auto scale = static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + 1023) << 52;
  return static_cast<float>(sum * std::bit_cast<double>(scale));
}

}  // namespace simt::machine
