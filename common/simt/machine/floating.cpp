// Arithmetic of f32 and f64 (PTX ISA 9.7.3): exact in every rounding, and approximations that are rounded from the exact
// value.
#include "common/simt/machine/floating.hpp"

#include <algorithm>
#include <string>

#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/rounding.hpp"

namespace simt::machine {
namespace {

using ptx::Type;

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float>;

// A sum of nothing is -0 if it is rounded down, unless both are +0.
template <Rounding rounding>
float sum_of(double a, double b) {
  const double sum = a + b;
  if (rounding == Rounding::down && sum == 0) {
    return std::signbit(a) || std::signbit(b) ? -0.0f : 0.0f;
  }
  return to_float<rounding>(sum, rest_of_sum(a, b, sum));
}

template <Rounding rounding>
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (rounding == Rounding::nearest) return settled(a + b, a, b);
    if constexpr (kIsFloat<T>) return sum_of<rounding>(a, b);
    return settled(static_cast<T>(add(a, b, rounding)), a, b);
  }
};
template <Rounding rounding>
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (rounding == Rounding::nearest) return settled(a - b, a, b);
    return settled(Add<rounding>{}(a, -b), a, b);
  }
};
template <Rounding rounding>
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (rounding == Rounding::nearest) return settled(a * b, a, b);
    // Of two floats a double holds the product.
    if constexpr (kIsFloat<T>) {
      return to_float<rounding>(static_cast<double>(a) * static_cast<double>(b), 0);
    }
    return settled(static_cast<T>(multiply(a, b, rounding)), a, b);
  }
};
template <Rounding rounding>
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    if constexpr (rounding == Rounding::nearest) return settled(std::fma(a, b, c), a, c, b);
    if constexpr (kIsFloat<T>) {
      return sum_of<rounding>(static_cast<double>(a) * static_cast<double>(b), c);
    }
    return settled(static_cast<T>(multiply_add(a, b, c, rounding)), a, c, b);
  }
};
template <Rounding rounding>
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (rounding == Rounding::nearest) return settled(a / b, b, a);
    if constexpr (kIsFloat<T>) {
      const double x = a, y = b, quotient = x / y;
      const double rest = std::fma(-quotient, y, x);  // exact
      return to_float<rounding>(quotient, y < 0 ? -rest : rest);
    }
    return settled(static_cast<T>(divide(a, b, rounding)), b, a);
  }
};
template <Rounding rounding>
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return Divide<rounding>{}(T{1}, a);
  }
};
template <Rounding rounding>
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    if constexpr (rounding == Rounding::nearest) return settled(std::sqrt(a), a);
    if constexpr (kIsFloat<T>) {
      const double x = a, root = std::sqrt(x);
      return to_float<rounding>(root, std::fma(-root, root, x));
    }
    return settled(static_cast<T>(square_root(a, rounding)), a);
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return settled(std::abs(a), a);
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return settled(-a, a);
  }
};
// The sign of the product of both, to what the operation makes of their magnitudes.
template <class Operation>
struct XorSign {
  template <class T>
  T operator()(T a, T b) const {
    const T value = Operation{}(std::abs(a), std::abs(b));
    if (std::isnan(value)) return value;
    return std::signbit(a) != std::signbit(b) ? -value : value;
  }
};

enum class Kind : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };
template <Kind kind>
struct Test {
  template <class T>
  bool operator()(T a) const {
    switch (kind) {
      case Kind::finite:
        return std::isfinite(a);
      case Kind::infinite:
        return std::isinf(a);
      case Kind::number:
        return !std::isnan(a);
      case Kind::notanumber:
        return std::isnan(a);
      case Kind::normal:
        return std::isnormal(a) || a == 0;
      case Kind::subnormal:
        return std::isfinite(a) && std::abs(a) < std::numeric_limits<T>::min() && a != 0;
    }
    return false;
  }
};

// f32 with .ftz and without, and f64.
template <int kFrom, class Operation>
void both(std::vector<Form>& forms, const std::string& pattern, Operation operation) {
  same<kFrom, Type::f32, Type::f64>(forms, pattern, operation);
  same<kFrom, Type::f32>(forms, pattern + ".ftz", Flushed<Operation>{});
}
template <int kFrom, class Operation>
void both_seldom(std::vector<Form>& forms, const std::string& pattern, Operation operation) {
  seldom<kFrom, Type::f32, Type::f64>(forms, pattern, operation);
  seldom<kFrom, Type::f32>(forms, pattern + ".ftz", Flushed<Operation>{});
}
template <int kFrom, class Operation>
void saturating(std::vector<Form>& forms, const std::string& pattern, Operation) {
  seldom<kFrom, Type::f32>(forms, pattern + ".sat", Saturated<Operation>{});
  seldom<kFrom, Type::f32>(forms, pattern + ".ftz.sat", Saturated<Flushed<Operation>>{});
}

// To nearest where nothing else is said, of add, sub and mul.
void add_nearest(std::vector<Form>& forms) {
  constexpr Rounding kIts = Rounding::nearest;
  both<2>(forms, "add[.rn]", Add<kIts>{});
  both<2>(forms, "sub[.rn]", Subtract<kIts>{});
  both<2>(forms, "mul[.rn]", Multiply<kIts>{});
  saturating<2>(forms, "add[.rn]", Add<kIts>{});
  saturating<2>(forms, "sub[.rn]", Subtract<kIts>{});
  saturating<2>(forms, "mul[.rn]", Multiply<kIts>{});
  for (const std::string opcode : {"fma.rn", "mad.rn"}) {
    both<3>(forms, opcode, MultiplyAdd<kIts>{});
    // Exponentials have it.
    same<3, Type::f32>(forms, opcode + ".sat", Saturated<MultiplyAdd<kIts>>{});
    same<3, Type::f32>(forms, opcode + ".ftz.sat", Saturated<Flushed<MultiplyAdd<kIts>>>{});
  }
  both<2>(forms, "div.rn", Divide<kIts>{});
  both<1>(forms, "rcp.rn", Reciprocal<kIts>{});
  both<1>(forms, "sqrt.rn", SquareRoot<kIts>{});
}
template <Rounding rounding>
void add_rounded(std::vector<Form>& forms, const std::string& name) {
  both_seldom<2>(forms, "add" + name, Add<rounding>{});
  both_seldom<2>(forms, "sub" + name, Subtract<rounding>{});
  both_seldom<2>(forms, "mul" + name, Multiply<rounding>{});
  saturating<2>(forms, "add" + name, Add<rounding>{});
  saturating<2>(forms, "sub" + name, Subtract<rounding>{});
  saturating<2>(forms, "mul" + name, Multiply<rounding>{});
  for (const std::string opcode : {"fma", "mad"}) {
    both_seldom<3>(forms, opcode + name, MultiplyAdd<rounding>{});
    saturating<3>(forms, opcode + name, MultiplyAdd<rounding>{});
  }
  both_seldom<2>(forms, "div" + name, Divide<rounding>{});
  both_seldom<1>(forms, "rcp" + name, Reciprocal<rounding>{});
  both_seldom<1>(forms, "sqrt" + name, SquareRoot<rounding>{});
}

void add_choices(std::vector<Form>& forms) {
  both<1>(forms, "abs", Absolute{});
  both<1>(forms, "neg", Negate{});
  same<2, Type::f64>(forms, "min", Least{});
  same<2, Type::f64>(forms, "max", Greatest{});
  const auto add_choice = [&]<class Operation>(const std::string& opcode, Operation) {
    const auto rows = [&]<class Its>(const std::string& tail, Its) {
      same<2, Type::f32>(forms, opcode + tail, Its{});
      same<2, Type::f32>(forms, opcode + ".ftz" + tail, Flushed<Its>{});
    };
    const auto both_signs = [&]<class Its>(const std::string& tail, Its) {
      seldom<2, Type::f32>(forms, opcode + tail, Its{});
      seldom<2, Type::f32>(forms, opcode + ".ftz" + tail, Flushed<Its>{});
    };
    rows("", Operation{});
    rows(".NaN", WithNaN<Operation>{});
    both_signs(".xorsign.abs", XorSign<Operation>{});
    both_signs(".NaN.xorsign.abs", XorSign<WithNaN<Operation>>{});
  };
  add_choice("min", Least{});
  add_choice("max", Greatest{});
  seldom<2, Type::f32, Type::f64>(forms, "copysign",
                                  [](auto a, auto b) { return std::copysign(b, a); });
  const auto test = [&]<Kind kind>(const std::string& name) {
    add_row(forms, "testp." + name, Type::f32, Type::pred, {Type::f32},
            &compare_seldom<Test<kind>, float>);
    add_row(forms, "testp." + name, Type::f64, Type::pred, {Type::f64},
            &compare_seldom<Test<kind>, double>);
  };
  test.operator()<Kind::finite>("finite");
  test.operator()<Kind::infinite>("infinite");
  test.operator()<Kind::number>("number");
  test.operator()<Kind::notanumber>("notanumber");
  test.operator()<Kind::normal>("normal");
  test.operator()<Kind::subnormal>("subnormal");
}

// ---- Approximations. The GPU's come from tables and differ in their last places; here they are rounded from the exact
// value, in double precision, so that they are the same on every processor. ----

// The argument in radians as the GPU has it: it is multiplied by 1 / 2 pi as a float, cut off, and of that part of a turn
// 25 places count.
double angle(float a) {
  constexpr double kTwoPi = 6.283185307179586476925, kTurn = 0x1p25;
  const double turns = Multiply<Rounding::zero>{}(a, 0x1.45f306p-3f);
  const double part = std::trunc((turns - std::trunc(turns)) * kTurn) / kTurn;
  return std::copysign(part * kTwoPi, static_cast<double>(a));
}

void add_approximations(std::vector<Form>& forms) {
  const auto approximate = [&]<int kFrom, class Operation>(std::integral_constant<int, kFrom>,
                                                           const std::string& pattern,
                                                           Operation operation) {
    same<kFrom, Type::f32>(forms, pattern, operation);
    same<kFrom, Type::f32>(forms, pattern + ".ftz", Flushed<Operation>{});
  };
  // A function of the library for each lane.
  const auto by_function = [&]<class Operation>(const std::string& pattern, Operation operation) {
    seldom<1, Type::f32>(forms, pattern, operation);
    seldom<1, Type::f32>(forms, pattern + ".ftz", Flushed<Operation>{});
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  approximate(two, "div.full", Divide<Rounding::nearest>{});
  approximate(two, "div.approx", [](float a, float b) {
    // The reciprocal of so large a number is 0 (9.7.3.8).
    const float reciprocal = std::abs(b) > 0x1p126f ? 0.0f : 1.0f;
    return reciprocal == 0.0f ? settled(a * std::copysign(0.0f, b)) : settled(a / b);
  });
  approximate(one, "rcp.approx", Reciprocal<Rounding::nearest>{});
  approximate(one, "sqrt.approx", SquareRoot<Rounding::nearest>{});
  approximate(one, "rsqrt.approx", [](float a) {
    return settled(static_cast<float>(1 / std::sqrt(static_cast<double>(a))));
  });
  by_function("sin.approx",
              [](float a) { return settled(static_cast<float>(std::sin(angle(a)))); });
  by_function("cos.approx",
              [](float a) { return settled(static_cast<float>(std::cos(angle(a)))); });
  by_function("lg2.approx", [](float a) {
    return settled(static_cast<float>(std::log2(static_cast<double>(a))));
  });
  approximate(one, "ex2.approx", [](float a) { return power_of_two(a); });
  seldom<1, Type::f32>(forms, "tanh.approx", [](float a) {
    return settled(static_cast<float>(std::tanh(static_cast<double>(a))));
  });
  // Of doubles the upper word counts, and the lower one of the result is zero.
  const auto by_upper_words = [&]<class Operation>(const std::string& pattern, Operation) {
    same<1, Type::f64>(forms, pattern, [](double a) {
      const auto flush = [](double value) {
        return std::abs(value) < std::numeric_limits<double>::min() ? std::copysign(0.0, value)
                                                                    : value;
      };
      constexpr std::uint64_t kLower = 0xffff'ffff;
      const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & ~kLower);
      const double value = flush(Operation{}(flush(cut)));
      const std::uint64_t bits =
          std::isnan(value) ? std::uint64_t{kNan32} << 32 : std::bit_cast<std::uint64_t>(value);
      return std::bit_cast<double>(bits & ~kLower);
    });
  };
  by_upper_words("rcp.approx.ftz", [](double a) { return 1 / a; });
  by_upper_words("rsqrt.approx.ftz", [](double a) { return 1 / std::sqrt(a); });
  same<1, Type::f64>(forms, "rsqrt.approx", [](double a) { return 1 / std::sqrt(a); });
}

}  // namespace

void add_floating_forms(std::vector<Form>& forms) {
  add_nearest(forms);
  add_rounded<Rounding::zero>(forms, ".rz");
  add_rounded<Rounding::down>(forms, ".rm");
  add_rounded<Rounding::up>(forms, ".rp");
  add_choices(forms);
  add_approximations(forms);
}

}  // namespace simt::machine
