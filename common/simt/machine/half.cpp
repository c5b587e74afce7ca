// Arithmetic of f16 and bf16, one or two in a register (PTX ISA 9.7.4). Each result is rounded once, to nearest even: sums and
// products are exact in double precision, or near enough. What the special function unit has is cut off.
#include "common/simt/machine/half.hpp"

#include <string>

#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/special.hpp"

namespace simt::machine {
namespace {

using ptx::Type;
using Bits = std::uint16_t;

template <Format format, Rounding rounding>
[[gnu::noinline]] Bits rounded(double value) {
  return static_cast<Bits>(narrow<format>(value, rounding));
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
  using IsCutOff = void;
  double operator()(double a) const { return special::hyperbolic_tangent(static_cast<float>(a)); }
};
struct PowerOfTwo {
  using IsCutOff = void;
  double operator()(double a) const { return special::power_of_two(static_cast<float>(a)); }
};
template <class Operation>
constexpr Rounding rounding_of() {
  return requires { typename Operation::IsCutOff; }
  ? Rounding::zero : Rounding::nearest;
}

// An operation's variants: .ftz (numbers below the normal ones are zeros, before and after), .sat (to [0, 1]), .relu (what is
// negative to 0), .xorsign.abs.
constexpr std::int64_t kFlushes = 1, kSaturates = 2, kRectifies = 4, kXorSign = 8;
// .oob: what a copy of a tile fills in beyond a tensor makes a product 0.
constexpr std::int64_t kSkipsOutside = 16;
// Of two values in a word each, the first in the lower half.
constexpr std::int64_t kPairs = 32;
constexpr Bits kBeyondTensor = 0x7ff7;

// What is done on the bits with the numbers.
template <Format format, class Operation>
class OnBits {
 public:
  explicit OnBits(std::int64_t variant)
      : flushes_((variant & kFlushes) != 0),
        saturates_((variant & kSaturates) != 0),
        rectifies_((variant & kRectifies) != 0),
        has_sign_((variant & kXorSign) != 0),
        skips_outside_((variant & kSkipsOutside) != 0) {}

  Bits operator()(Bits a) const { return after(made(a)); }
  Bits operator()(Bits a, Bits b) const {
    if (!has_sign_) return after(made(a, b));
    const auto magnitude = [](Bits bits) { return static_cast<Bits>(bits & ~format.sign()); };
    // The sign of the product, to what the operation makes of the magnitudes; the sign of a NaN counts too.
    const Bits value = made(magnitude(a), magnitude(b));
    return value > format.infinity() ? value : static_cast<Bits>(value | ((a ^ b) & format.sign()));
  }
  Bits operator()(Bits a, Bits b, Bits c) const {
    const auto is_outside = [](Bits bits) { return (bits & 0x7fff) == kBeyondTensor; };
    if (skips_outside_ && (is_outside(a) || is_outside(b))) return 0;
    return after(made(a, b, c));
  }

 private:
  template <class... From>
  Bits made(From... from) const {
    const double value = Operation{}(flushed(from)...);
    constexpr double kBeyond =
        std::bit_cast<double>(static_cast<std::uint64_t>(1025 - format.least()) << 52);
    if (value >= kBeyond) return static_cast<Bits>(format.infinity());
    // A result counts as it would be rounded if there were none below the normal numbers.
    constexpr auto kNormal =
        std::bit_cast<double>(static_cast<std::uint64_t>(1023 + format.least()) << 52);
    constexpr double kLeast = kNormal - kNormal / (1 << (format.places + 2));
    return rounded<format, rounding_of<Operation>()>(
        flushes_ && std::abs(value) < kLeast ? std::copysign(0.0, value) : value);
  }
  double flushed(Bits bits) const {
    const bool is_normal = (bits & format.infinity()) != 0;
    return number<format>(!flushes_ || is_normal ? bits : static_cast<Bits>(bits & format.sign()));
  }
  Bits after(Bits bits) const {
    if (rectifies_) return (bits & format.sign()) != 0 ? Bits{0} : bits;
    if (!saturates_) return bits;
    constexpr auto kOne = static_cast<Bits>((1 - format.least()) << format.places);
    if (bits > format.infinity()) return 0;  // negative, or NaN
    return std::min(bits, kOne);
  }

  bool flushes_, saturates_, rectifies_, has_sign_, skips_outside_;
};
// A register of pairs is one of twice as many values.
template <class OnBits, class... From>
const Step* map_halves(const Step* step, Warp& warp, const From*... from) {
  Bits* const to = warp.values<Bits>(step->to);
  const OnBits operation{step->offset};
  const int count = (step->offset & kPairs) != 0 ? 2 * kLanes : kLanes;
  for (int i = 0; i < count; ++i) to[i] = operation(from[i]...);
  return step + 1;
}
template <int kFrom, class OnBits>
const Step* halves(const Step* step, Warp& warp) {
  if (warp.active != kAllLanes) {
    const std::size_t bytes = sizeof(Bits) * ((step->offset & kPairs) != 0 ? 2 : 1);
    return for_active_lanes(&halves<kFrom, OnBits>, step, warp, bytes);
  }
  const auto from = [&](std::size_t i) { return warp.values<const Bits>(step->from[i]); };
  if constexpr (kFrom == 1) return map_halves<OnBits>(step, warp, from(0));
  if constexpr (kFrom == 2) return map_halves<OnBits>(step, warp, from(0), from(1));
  if constexpr (kFrom == 3) return map_halves<OnBits>(step, warp, from(0), from(1), from(2));
}

struct HalfRow {
  Type single, pair;
  std::string opcode;
  int count;
  Execute run;
};
void add_row(std::vector<Form>& forms, const HalfRow& row, std::string_view modifiers,
             std::int64_t variant) {
  const std::string pattern = row.opcode + std::string(modifiers);
  machine::add_row(forms, pattern, row.single, row.count, row.run);
  forms.back().variant = variant;
  machine::add_row(forms, pattern, row.pair, row.count, row.run);
  forms.back().variant = variant | kPairs;
}
// With .ftz too, which only f16 has.
void add_flushing(std::vector<Form>& forms, const HalfRow& row, const std::string& modifiers,
                  std::int64_t variant) {
  add_row(forms, row, modifiers, variant);
  if (row.single == Type::f16) add_row(forms, row, ".ftz" + modifiers, variant | kFlushes);
}
void add_arithmetic(std::vector<Form>& forms, const HalfRow& row) {
  add_flushing(forms, row, "", 0);
  if (row.single == Type::f16) add_flushing(forms, row, ".sat", kSaturates);
}
void add_choice(std::vector<Form>& forms, const HalfRow& row, const HalfRow& with_nan) {
  add_flushing(forms, row, "", 0);
  add_flushing(forms, with_nan, ".NaN", 0);
  add_flushing(forms, row, ".xorsign.abs", kXorSign);
  add_flushing(forms, with_nan, ".NaN.xorsign.abs", kXorSign);
}

template <Type single, Type pair>
void add_rows(std::vector<Form>& forms) {
  const auto row = []<int kFrom, class Operation>(std::integral_constant<int, kFrom>,
                                                  const char* opcode, Operation) {
    return HalfRow{single, pair, opcode, kFrom, &halves<kFrom, OnBits<kFormat<single>, Operation>>};
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 3> three;
  add_arithmetic(forms, row(two, "add[.rn]", Add{}));
  add_arithmetic(forms, row(two, "sub[.rn]", Subtract{}));
  add_arithmetic(forms, row(two, "mul[.rn]", Multiply{}));
  const HalfRow fma = row(three, "fma.rn", MultiplyAdd{});
  add_arithmetic(forms, fma);
  add_flushing(forms, fma, ".relu", kRectifies);
  add_row(forms, fma, ".oob", kSkipsOutside);
  add_row(forms, fma, ".oob.relu", kSkipsOutside | kRectifies);
  add_flushing(forms, row(one, "abs", Absolute{}), "", 0);
  add_flushing(forms, row(one, "neg", Negate{}), "", 0);
  add_choice(forms, row(two, "min", Least{}), row(two, "min", WithNaN<Least>{}));
  add_choice(forms, row(two, "max", Greatest{}), row(two, "max", WithNaN<Greatest>{}));
  add_row(forms, row(one, "tanh.approx", HyperbolicTangent{}), "", 0);
  add_row(forms, row(one, "ex2.approx", PowerOfTwo{}), single == Type::f16 ? "" : ".ftz", 0);
}

}  // namespace

void add_half_forms(std::vector<Form>& forms) {
  add_rows<Type::f16, Type::f16x2>(forms);
  add_rows<Type::bf16, Type::bf16x2>(forms);
}

}  // namespace simt::machine
