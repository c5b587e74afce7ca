// Arithmetic of f16 and bf16, one or two in a register (PTX ISA 9.7.4). Each result is rounded once, to nearest even: sums and
// products are exact in double precision, or near enough.
#include "common/simt/machine/half.hpp"

#include <string>

#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Type;
using Bits = std::uint16_t;

template <Format format>
[[gnu::noinline]] Bits rounded(double value) {
  return static_cast<Bits>(narrow<format>(value, Rounding::nearest));
}
template <Format format>
double number(Bits bits) {
  return static_cast<double>(widen<format>(bits));
}

struct Add {
  double operator()(double a, double b) const { return a + b; }
};
struct Subtract {
  double operator()(double a, double b) const { return a - b; }
};
struct Multiply {
  double operator()(double a, double b) const { return a * b; }
};
struct MultiplyAdd {
  double operator()(double a, double b, double c) const {
    return multiply_add_to_odd(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
};
struct Absolute {
  double operator()(double a) const { return std::abs(a); }
};
struct Negate {
  double operator()(double a) const { return -a; }
};
struct HyperbolicTangent {
  double operator()(double a) const { return std::tanh(a); }
};
struct PowerOfTwo {
  double operator()(double a) const { return std::exp2(a); }
};

// On the bits, what is done with the numbers.
template <Format format, class Operation>
struct OnBits {
  template <class... From>
  Bits operator()(From... from) const {
    return rounded<format>(Operation{}(number<format>(from)...));
  }
};
// .ftz: numbers below the normal ones are zeros, before and after. A result counts as it would be rounded if there were
// none below.
template <Format format, class Operation>
struct Flushing {
  template <class... From>
  Bits operator()(From... from) const {
    const double value = Operation{}(flushed(from)...);
    constexpr double kNormal = 1.0 / (1 << -format.least());
    constexpr double kLeast = kNormal - kNormal / (1 << (format.places + 2));
    return rounded<format>(std::abs(value) < kLeast ? std::copysign(0.0, value) : value);
  }
  static double flushed(Bits bits) {
    const bool is_normal = (bits & format.infinity()) != 0;
    return number<format>(is_normal ? bits : static_cast<Bits>(bits & format.sign()));
  }
};
// The sign of the product, to what the operation makes of the magnitudes; the sign of a NaN counts too.
template <Format format, class Operation>
struct XorSign {
  Bits operator()(Bits a, Bits b) const {
    const auto magnitude = [](Bits bits) { return static_cast<Bits>(bits & ~format.sign()); };
    const Bits value = Operation{}(magnitude(a), magnitude(b));
    return value > format.infinity() ? value : static_cast<Bits>(value | ((a ^ b) & format.sign()));
  }
};
// To [0, 1]; and what is negative to 0.
template <Format format, class Operation>
struct SaturatedBits {
  template <class... From>
  Bits operator()(From... from) const {
    constexpr auto kOne = static_cast<Bits>((1 - format.least()) << format.places);
    const Bits bits = Operation{}(from...);
    if (bits > format.infinity()) return 0;  // negative, or NaN
    return std::min(bits, kOne);
  }
};
template <Format format, class Operation>
struct RectifiedBits {
  template <class... From>
  Bits operator()(From... from) const {
    const Bits bits = Operation{}(from...);
    return (bits & format.sign()) != 0 ? Bits{0} : bits;
  }
};

// Rows of one value and of two in a word.
template <Type single, Type pair, int kFrom, class Operation>
void add_row(std::vector<Form>& forms, const std::string& pattern, Operation) {
  machine::add_row(forms, pattern, single, kFrom, mapped_same<true, kFrom, Operation, Bits>());
  machine::add_row(forms, pattern, pair, kFrom,
                   mapped_same<true, kFrom, Paired<Operation>, std::uint32_t>());
}

template <Type single, Type pair>
void add_rows(std::vector<Form>& forms) {
  constexpr Format kIts = kFormat<single>;
  constexpr bool kIsF16 = single == Type::f16;
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 3> three;
  // An operation, with .ftz too, which only f16 has.
  const auto flushing = [&]<int kFrom, class Operation>(std::integral_constant<int, kFrom>,
                                                        const std::string& head,
                                                        const std::string& tail, Operation) {
    add_row<single, pair, kFrom>(forms, head + tail, OnBits<kIts, Operation>{});
    if constexpr (kIsF16) {
      add_row<single, pair, kFrom>(forms, head + ".ftz" + tail, Flushing<kIts, Operation>{});
    }
  };
  const auto arithmetic = [&]<class Count, class Operation>(Count count, const std::string& head,
                                                            Operation operation) {
    flushing(count, head, "", operation);
    if constexpr (kIsF16) {
      add_row<single, pair, Count::value>(forms, head + ".sat",
                                          SaturatedBits<kIts, OnBits<kIts, Operation>>{});
      add_row<single, pair, Count::value>(forms, head + ".ftz.sat",
                                          SaturatedBits<kIts, Flushing<kIts, Operation>>{});
    }
  };
  arithmetic(two, "add[.rn]", Add{});
  arithmetic(two, "sub[.rn]", Subtract{});
  arithmetic(two, "mul[.rn]", Multiply{});
  arithmetic(three, "fma.rn", MultiplyAdd{});
  add_row<single, pair, 3>(forms, "fma.rn.relu", RectifiedBits<kIts, OnBits<kIts, MultiplyAdd>>{});
  if constexpr (kIsF16) {
    add_row<single, pair, 3>(forms, "fma.rn.ftz.relu",
                             RectifiedBits<kIts, Flushing<kIts, MultiplyAdd>>{});
  }
  flushing(one, "abs", "", Absolute{});
  flushing(one, "neg", "", Negate{});
  const auto choice = [&]<class Operation>(const std::string& opcode, Operation) {
    using NaN = WithNaN<Operation>;
    flushing(two, opcode, "", Operation{});
    flushing(two, opcode, ".NaN", NaN{});
    const auto with_sign = [&]<class Its>(const std::string& tail, Its) {
      add_row<single, pair, 2>(forms, opcode + tail, XorSign<kIts, OnBits<kIts, Its>>{});
      if constexpr (kIsF16) {
        add_row<single, pair, 2>(forms, opcode + ".ftz" + tail,
                                 XorSign<kIts, Flushing<kIts, Its>>{});
      }
    };
    with_sign(".xorsign.abs", Operation{});
    with_sign(".NaN.xorsign.abs", NaN{});
  };
  choice("min", Least{});
  choice("max", Greatest{});
  // Approximations: rounded from the exact value.
  add_row<single, pair, 1>(forms, "tanh.approx", OnBits<kIts, HyperbolicTangent>{});
  add_row<single, pair, 1>(forms, kIsF16 ? "ex2.approx" : "ex2.approx.ftz",
                           OnBits<kIts, PowerOfTwo>{});
}

}  // namespace

void add_half_forms(std::vector<Form>& forms) {
  add_rows<Type::f16, Type::f16x2>(forms);
  add_rows<Type::bf16, Type::bf16x2>(forms);
}

}  // namespace simt::machine
