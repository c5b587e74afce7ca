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

}  // namespace simt::machine
