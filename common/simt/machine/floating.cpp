// Arithmetic of f32 and f64 (PTX ISA 9.7.3): exact in every rounding, and approximations as the GPU has them.
#include "common/simt/machine/floating.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/rounding.hpp"
#include "common/simt/machine/special.hpp"

// Its operations are named as those of arithmetic.
namespace simt::machine::floating {
namespace {

using ptx::Type;

// A sum of nothing is -0 if it is rounded down, unless both are +0.
float sum_of(double a, double b, Rounding rounding) {
  const double sum = a + b;
  if (rounding == Rounding::down && sum == 0) {
    return std::signbit(a) || std::signbit(b) ? -0.0f : 0.0f;
  }
  return to_float(sum, rest_of_sum(a, b, sum), rounding);
}

// Each to nearest, and in a direction.
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return settled(a + b, a, b);
  }
  float operator()(float a, float b, Rounding rounding) const { return sum_of(a, b, rounding); }
  double operator()(double a, double b, Rounding rounding) const {
    return settled(add(a, b, rounding), a, b);
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return settled(a - b, a, b);
  }
  template <class T>
  T operator()(T a, T b, Rounding rounding) const {
    return settled(Add{}(a, -b, rounding), a, b);
  }
};
struct Multiply {
  using IsProduct = void;
  template <class T>
  T operator()(T a, T b) const {
    return settled(a * b, a, b);
  }
  // Of two floats a double holds the product.
  float operator()(float a, float b, Rounding rounding) const {
    return to_float(static_cast<double>(a) * static_cast<double>(b), 0, rounding);
  }
  double operator()(double a, double b, Rounding rounding) const {
    return settled(multiply(a, b, rounding), a, b);
  }
};
struct MultiplyAdd {
  using IsProduct = void;
  template <class T>
  T operator()(T a, T b, T c) const {
    return settled(std::fma(a, b, c), a, c, b);
  }
  float operator()(float a, float b, float c, Rounding rounding) const {
    return sum_of(static_cast<double>(a) * static_cast<double>(b), c, rounding);
  }
  double operator()(double a, double b, double c, Rounding rounding) const {
    return settled(multiply_add(a, b, c, rounding), a, c, b);
  }
};
struct Divide {
  using IsProduct = void;
  template <class T>
  T operator()(T a, T b) const {
    return settled(a / b, b, a);
  }
  float operator()(float a, float b, Rounding rounding) const {
    const double x = a, y = b, quotient = x / y;
    const double rest = std::fma(-quotient, y, x);  // exact
    return to_float(quotient, y < 0 ? -rest : rest, rounding);
  }
  double operator()(double a, double b, Rounding rounding) const {
    return settled(divide(a, b, rounding), b, a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return Divide{}(T{1}, a);
  }
  template <class T>
  T operator()(T a, Rounding rounding) const {
    return Divide{}(T{1}, a, rounding);
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return settled(std::sqrt(a), a);
  }
  float operator()(float a, Rounding rounding) const {
    const double x = a, root = std::sqrt(x);
    return to_float(root, std::fma(-root, root, x), rounding);
  }
  double operator()(double a, Rounding rounding) const {
    return settled(square_root(a, rounding), a);
  }
};

// With .ftz and .sat or without, in any direction.
template <class Operation>
class Variant {
 public:
  static constexpr std::int64_t number(Rounding rounding, bool flushes, bool saturates) {
    return static_cast<std::int64_t>(rounding) | (flushes ? kFlushes : 0) |
           (saturates ? kSaturates : 0);
  }
  explicit Variant(std::int64_t number)
      : rounding_(static_cast<Rounding>(number & 7)),
        flushes_((number & kFlushes) != 0),
        saturates_((number & kSaturates) != 0) {}

  template <class... From>
  auto operator()(From... from) const {
    const auto value = flushed(rounded(flushed(from)...));
    return saturates_ ? Saturated<Same>{}(value) : value;
  }

 private:
  static constexpr std::int64_t kFlushes = 8, kSaturates = 16;
  struct Same {
    template <class T>
    T operator()(T value) const {
      return value;
    }
  };
  template <class T>
  T flushed(T value) const {
    return flushes_ ? Flush{}(value) : value;
  }
  template <class... From>
  auto rounded(From... from) const {
    return rounding_ == Rounding::nearest ? Operation{}(from...) : Operation{}(from..., rounding_);
  }

  Rounding rounding_;
  bool flushes_, saturates_;
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
void add_both(std::vector<Form>& forms, const std::string& pattern, int count, Execute f32,
              Execute flushed, Execute f64) {
  add_row(forms, pattern, Type::f32, count, f32);
  add_row(forms, pattern, Type::f64, count, f64);
  add_row(forms, pattern + ".ftz", Type::f32, count, flushed);
}
template <int kFrom, class Operation>
void both(std::vector<Form>& forms, const std::string& pattern, Operation) {
  add_both(forms, pattern, kFrom, mapped_same<false, kFrom, Operation, float>(),
           mapped_same<false, kFrom, Flushed<Operation>, float>(),
           mapped_same<false, kFrom, Operation, double>());
}

// What a Variant does.
struct Varied {
  std::string opcode;
  int count;
  Execute f32, f64;
};
template <int kFrom, class Operation>
Varied varied(const std::string& opcode, Operation) {
  using Its = Variant<Operation>;
  return {opcode, kFrom, mapped_variant<kFrom, Its, float>(), mapped_variant<kFrom, Its, double>()};
}
void add_variant(std::vector<Form>& forms, const Varied& its, const std::string& modifiers,
                 Type type, Rounding rounding) {
  add_row(forms, its.opcode + modifiers, type, its.count, type == Type::f64 ? its.f64 : its.f32);
  forms.back().variant = Variant<Add>::number(rounding, modifiers.find(".ftz") != std::string::npos,
                                              modifiers.find(".sat") != std::string::npos);
}
void add_saturating(std::vector<Form>& forms, const Varied& its, const std::string& modifiers,
                    Rounding rounding) {
  add_variant(forms, its, modifiers + ".sat", Type::f32, rounding);
  add_variant(forms, its, modifiers + ".ftz.sat", Type::f32, rounding);
}

// To nearest where nothing else is said, of add, sub and mul.
void add_nearest(std::vector<Form>& forms) {
  both<2>(forms, "add[.rn]", Add{});
  both<2>(forms, "sub[.rn]", Subtract{});
  both<2>(forms, "mul[.rn]", Multiply{});
  for (const std::string opcode : {"fma.rn", "mad.rn"}) {
    both<3>(forms, opcode, MultiplyAdd{});
    // Exponentials have it.
    same<3, Type::f32>(forms, opcode + ".sat", Saturated<MultiplyAdd>{});
    same<3, Type::f32>(forms, opcode + ".ftz.sat", Saturated<Flushed<MultiplyAdd>>{});
  }
  // PTX ISA: code for GPUs before compute capability 2.0, which has no rounding, is compiled so for later ones.
  same<3, Type::f32>(forms, "mad", Flushed<MultiplyAdd>{});
  both<2>(forms, "div.rn", Divide{});
  both<1>(forms, "rcp.rn", Reciprocal{});
  both<1>(forms, "sqrt.rn", SquareRoot{});
}
void add_seldom(std::vector<Form>& forms) {
  const Varied all[] = {
      varied<2>("add", Add{}),         varied<2>("sub", Subtract{}),
      varied<2>("mul", Multiply{}),    varied<3>("fma", MultiplyAdd{}),
      varied<3>("mad", MultiplyAdd{}), varied<2>("div", Divide{}),
      varied<1>("rcp", Reciprocal{}),  varied<1>("sqrt", SquareRoot{}),
  };
  constexpr std::size_t kSums = 3, kSaturating = 5;  // of them, the first ones
  for (const Varied& its : std::span(all).first(kSums)) {
    add_saturating(forms, its, "[.rn]", Rounding::nearest);
  }
  for (const auto& [name, rounding] :
       {std::pair{".rz", Rounding::zero}, {".rm", Rounding::down}, {".rp", Rounding::up}}) {
    for (const Varied& its : all) {
      add_variant(forms, its, name, Type::f32, rounding);
      add_variant(forms, its, name, Type::f64, rounding);
      add_variant(forms, its, std::string(name) + ".ftz", Type::f32, rounding);
    }
    for (const Varied& its : std::span(all).first(kSaturating)) {
      add_saturating(forms, its, name, rounding);
    }
  }
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

// ---- Approximations: what the special function unit answers. Numbers below the normal ones, which are zeros to it, are
// brought among these before, and results back, as ptxas does. ----

constexpr float kLeastNormal = std::numeric_limits<float>::min(), kGreat = 0x1p126f;
bool is_small(float a) { return std::abs(a) < kLeastNormal; }

struct ReciprocalFast {
  float operator()(float a) const {
    const float scale = std::abs(a) > kGreat ? 0.25f : is_small(a) ? 0x1p24f : 1;
    return settled(special::reciprocal(a * scale) * scale);
  }
};
// Of a divisor over 2^126 the reciprocal is 0, but for div.full.
template <bool is_full>
struct DivideFast {
  using IsProduct = void;
  float operator()(float a, float b) const {
    const float scale = is_full && std::abs(b) > kGreat ? 0.25f : is_small(b) ? 0x1p24f : 1;
    return settled(a * scale * special::reciprocal(b * scale));
  }
};
struct SquareRootFast {
  float operator()(float a) const {
    return is_small(a) ? special::root(a * 0x1p24f) * 0x1p-12f : special::root(a);
  }
};
struct ReciprocalRootFast {
  float operator()(float a) const {
    return is_small(a) ? special::reciprocal_root(a * 0x1p24f) * 0x1p12f
                       : special::reciprocal_root(a);
  }
};
struct PowerOfTwoFast {
  float operator()(float a) const {
    if (!(a < -126)) return special::power_of_two(a);
    const float half = special::power_of_two(a * 0.5f);
    return half * half;
  }
};
struct LogarithmFast {
  float operator()(float a) const {
    return is_small(a) ? special::logarithm(a * 0x1p24f) - 24 : special::logarithm(a);
  }
};
// Of radians: they are multiplied by 1 / 2 pi as a float, cut off.
float turns_of(float a) { return Multiply{}(a, 0x1.45f306p-3f, Rounding::zero); }
struct SineFast {
  float operator()(float a) const { return special::sine(turns_of(a)); }
};
struct CosineFast {
  float operator()(float a) const { return special::cosine(turns_of(a)); }
};
struct HyperbolicTangentFast {
  float operator()(float a) const { return special::hyperbolic_tangent(a); }
};
// Of doubles it has the upper words.
struct UpperReciprocal {
  double operator()(double a) const { return special::reciprocal(a); }
};
struct UpperReciprocalRoot {
  double operator()(double a) const { return special::reciprocal_root(a); }
};
// One step from there.
struct ReciprocalRootOfDouble {
  double operator()(double a) const {
    if (a == 0) return std::copysign(std::numeric_limits<double>::infinity(), a);
    if (!(a > 0) || std::isinf(a)) return a > 0 ? 0 : settled(std::sqrt(a), a);
    if (a < std::numeric_limits<double>::min()) return (*this)(a * 0x1p54) * 0x1p27;
    const double root = special::reciprocal_root(a), error = std::fma(a, -(root * root), 1.0);
    return std::fma(std::fma(error, 0.375, 0.5), root * error, root);
  }
};

void add_approximations(std::vector<Form>& forms) {
  const auto approximate = [&]<int kFrom, class Operation>(std::integral_constant<int, kFrom>,
                                                           const std::string& pattern,
                                                           Operation operation) {
    seldom<kFrom, Type::f32>(forms, pattern, operation);
    seldom<kFrom, Type::f32>(forms, pattern + ".ftz", Flushed<Operation>{});
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  approximate(two, "div.full", DivideFast<true>{});
  approximate(two, "div.approx", DivideFast<false>{});
  approximate(one, "rcp.approx", ReciprocalFast{});
  approximate(one, "sqrt.approx", SquareRootFast{});
  approximate(one, "rsqrt.approx", ReciprocalRootFast{});
  approximate(one, "sin.approx", SineFast{});
  approximate(one, "cos.approx", CosineFast{});
  approximate(one, "lg2.approx", LogarithmFast{});
  approximate(one, "ex2.approx", PowerOfTwoFast{});
  seldom<1, Type::f32>(forms, "tanh.approx", HyperbolicTangentFast{});
  seldom<1, Type::f64>(forms, "rcp.approx.ftz", UpperReciprocal{});
  seldom<1, Type::f64>(forms, "rsqrt.approx.ftz", UpperReciprocalRoot{});
  seldom<1, Type::f64>(forms, "rsqrt.approx", ReciprocalRootOfDouble{});
}

}  // namespace
}  // namespace simt::machine::floating

void simt::machine::add_floating_forms(std::vector<Form>& forms) {
  floating::add_nearest(forms);
  floating::add_seldom(forms);
  floating::add_choices(forms);
  floating::add_approximations(forms);
}
