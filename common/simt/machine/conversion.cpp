// Conversions (PTX ISA 9.7.9.21). One instruction may be several steps: f16 and bf16 go by way of f32, which holds them; .ftz,
// .sat and .relu are steps of their own before or behind.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/half.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Type;

template <class To, class From>
struct Convert {
  To operator()(From value) const { return static_cast<To>(value); }
};
// A sign counts where there is more room.
template <class To, class From>
using Resized = std::conditional_t<sizeof(To) <= sizeof(From), std::make_unsigned_t<From>, From>;
template <class To, class From>
constexpr Execute kConvert = &map_lanes<Convert<To, Resized<To, From>>, To, Resized<To, From>>;

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_floating(Type type) {
  return is_half(type) || type == Type::tf32 || type == Type::f32 || type == Type::f64;
}

// Programs mostly cut off what is behind the point, and round to nearest; other operations are made with the direction.
template <class T>
T whole(T value, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}
// Too large is the largest, too small the smallest. NaN is what an H200 makes of it.
template <class To, class From>
To to_whole(From value, Rounding rounding) {
  using Bits = std::make_unsigned_t<To>;
  if (std::isnan(value)) {
    constexpr auto kTop = static_cast<Bits>(Bits{1} << (sizeof(To) * 8 - 1));
    return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(kTop) : To{0};
  }
  const From its = whole(value, rounding);
  // 2^n is exact, the largest number below it may not be.
  constexpr auto kBeyond =
      static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * static_cast<From>(2);
  if (its >= kBeyond) return std::numeric_limits<To>::max();
  if (its < static_cast<From>(std::numeric_limits<To>::min())) {
    return std::numeric_limits<To>::min();
  }
  return static_cast<To>(its);
}
template <class To>
struct CutOff {
  template <class From>
  To operator()(From value) const {
    return to_whole<To>(value, Rounding::zero);
  }
};

// An operation that rounds: made with a variant, which is the direction.
struct Rounds {
  Rounding rounding;
  explicit Rounds(std::int64_t variant) : rounding(static_cast<Rounding>(variant)) {}
};
template <class To>
struct ToWhole : Rounds {
  using Rounds::Rounds;
  template <class From>
  To operator()(From value) const {
    return to_whole<To>(value, rounding);
  }
};
template <Rounding rounding>
struct Integral {
  float operator()(float value) const { return settled(whole(value, rounding), value); }
};
struct IntegralDouble : Rounds {
  using Rounds::Rounds;
  double operator()(double value) const { return settled(whole(value, rounding), value); }
};

template <class T>
std::uint64_t magnitude_of(T value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}
struct WholeToOdd {
  template <class From>
  double operator()(From value) const {
    return whole_to_odd(value < 0, magnitude_of(value));
  }
};
template <class To>
struct FromWhole : Rounds {
  using Rounds::Rounds;
  template <class From>
  To operator()(From value) const {
    if constexpr (std::is_same_v<To, float>) {
      return std::bit_cast<float>(narrow<kF32>(WholeToOdd{}(value), rounding));
    } else {
      return whole_to_double(value < 0, magnitude_of(value), rounding);
    }
  }
};

// To a narrow format: in which direction, whether what is too large is the greatest number, and .relu.
class Narrowing {
 public:
  static constexpr std::int64_t number(Rounding rounding, bool finite, bool rectifies = false) {
    return static_cast<std::int64_t>(rounding) | (finite ? kFinite : 0) |
           (rectifies ? kRectifies : 0);
  }
  explicit Narrowing(std::int64_t number)
      : rounding_(static_cast<Rounding>(number & 7)),
        finite_((number & kFinite) != 0),
        rectifies_((number & kRectifies) != 0) {}

 protected:
  template <Format format>
  std::uint32_t narrowed(double value) const {
    const std::uint32_t bits = narrow<format>(value, rounding_, finite_);
    return rectifies_ && (bits & format.sign()) != 0 ? 0 : bits;
  }
  bool is_away() const { return rounding_ == Rounding::away; }
  bool is_finite() const { return finite_; }

 private:
  static constexpr std::int64_t kFinite = 8, kRectifies = 16;
  Rounding rounding_;
  bool finite_, rectifies_;
};
template <Format format>
struct Narrow : Narrowing {
  using Narrowing::Narrowing;
  template <class From>
  std::uint32_t operator()(From value) const {
    if (std::is_same_v<From, double> && value != value) {
      // Of a double what there is room for.
      const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
      const auto fraction = static_cast<std::uint32_t>(bits >> (52 - format.places));
      return (bits >> 63 != 0 ? format.sign() : 0) | format.infinity() | 1u << (format.places - 1) |
             (fraction & ~(~0u << format.places));
    }
    if (is_away() && value != value) {
      const std::uint32_t cut = std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 13 << 13;
      return is_finite() ? cut - 0x2000 : cut;  // an H200's answer
    }
    const std::uint32_t bits = narrowed<format>(static_cast<double>(value));
    // TF32 is a float without its last 13 bits.
    return format.places + format.exponent_bits == 18 ? bits << 13 : bits;
  }
};
float to_float_of(double value, Rounding rounding) {
  return value == value ? to_float(value, 0, rounding) : static_cast<float>(value);
}
struct ToFloat {
  float operator()(double value) const { return to_float_of(value, Rounding::nearest); }
};
struct ToFloatIn : Rounds {
  using Rounds::Rounds;
  float operator()(double value) const { return to_float_of(value, rounding); }
};
struct Widest {
  double operator()(float value) const { return settled(static_cast<double>(value), value); }
  // The NaN of an f16 keeps its fraction.
  double operator()(std::uint16_t bits) const {
    const auto value = static_cast<double>(widen<kF16>(bits));
    if (value == value) return value;
    const std::uint64_t sign = bits >> 15, fraction = bits & 0x3ff;
    return std::bit_cast<double>(sign << 63 | std::uint64_t{0x7ff8} << 48 | fraction << 42);
  }
};
template <Format format>
struct Widen {
  float operator()(std::uint16_t bits) const { return widen<format>(bits); }
};

template <class T>
struct Same {
  T operator()(T value) const { return value; }
};
struct Settle {
  float operator()(float value) const { return settled(value); }
};
// On the bits of a half.
template <Format format>
struct SaturatedBits {
  std::uint16_t operator()(std::uint16_t bits) const {
    constexpr std::uint16_t kOne =
        static_cast<std::uint16_t>((0 - format.least() + 1) << format.places);
    if (bits > format.infinity()) return 0;  // negative, or NaN
    return bits < kOne ? bits : kOne;
  }
};
template <Format format>
struct Rectified {
  std::uint32_t operator()(std::uint32_t bits) const {
    return (bits & format.sign()) != 0 ? 0 : bits;
  }
};

template <class To, class From>
struct Clamped {
  To operator()(From value) const {
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  }
};

// Calls visit<T>() for the C++ type of an integer type.
template <class Visit>
Execute with_integer(Type type, Visit visit) {
  switch (type) {
    case Type::u8:
      return visit.template operator()<std::uint8_t>();
    case Type::u16:
      return visit.template operator()<std::uint16_t>();
    case Type::u32:
      return visit.template operator()<std::uint32_t>();
    case Type::u64:
      return visit.template operator()<std::uint64_t>();
    case Type::s8:
      return visit.template operator()<std::int8_t>();
    case Type::s16:
      return visit.template operator()<std::int16_t>();
    case Type::s32:
      return visit.template operator()<std::int32_t>();
    case Type::s64:
      return visit.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

// An integer of 64 bits to the nearest one that the type has.
Execute clamping(Type to, bool from_signed) {
  return with_integer(to, [from_signed]<class To>() -> Execute {
    using S64 = std::int64_t;
    using U64 = std::uint64_t;
    return from_signed ? &map_seldom<Clamped<To, S64>, To, S64>
                       : &map_seldom<Clamped<To, U64>, To, U64>;
  });
}
Execute cutting_off(Type to, Type from) {
  const auto of = [from]<class To>() -> Execute {
    return from == Type::f64 ? &map_lanes<CutOff<To>, To, double>
                             : &map_lanes<CutOff<To>, To, float>;
  };
  switch (to) {
    case Type::u32:
      return of.template operator()<std::uint32_t>();
    case Type::s32:
      return of.template operator()<std::int32_t>();
    case Type::u64:
      return of.template operator()<std::uint64_t>();
    case Type::s64:
      return of.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}
// In any direction.
Execute to_integer(Type to, Type from) {
  return with_integer(to, [from]<class To>() -> Execute {
    return from == Type::f64 ? &map_variant<ToWhole<To>, To, double>
                             : &map_variant<ToWhole<To>, To, float>;
  });
}
// Integers of 32 and 64 bits, to nearest; of 64 bits in any direction.
Execute nearest_from_integer(Type to, Type from) {
  const auto of = [to]<class From>() -> Execute {
    return to == Type::f64 ? &map_lanes<Convert<double, From>, double, From>
                           : &map_lanes<Convert<float, From>, float, From>;
  };
  switch (from) {
    case Type::u32:
      return of.template operator()<std::uint32_t>();
    case Type::s32:
      return of.template operator()<std::int32_t>();
    case Type::u64:
      return of.template operator()<std::uint64_t>();
    default:
      return of.template operator()<std::int64_t>();
  }
}
Execute from_integer(Type to, bool is_signed) {
  const auto of = [to]<class From>() -> Execute {
    return to == Type::f64 ? &map_variant<FromWhole<double>, double, From>
                           : &map_variant<FromWhole<float>, float, From>;
  };
  return is_signed ? of.template operator()<std::int64_t>()
                   : of.template operator()<std::uint64_t>();
}
// To f16, bf16 and tf32, from f32 and f64.
Execute narrowing(Type to, Type from) {
  const auto of = [from]<Format format, class To>() -> Execute {
    return from == Type::f64 ? &map_variant<Narrow<format>, To, double>
                             : &map_variant<Narrow<format>, To, float>;
  };
  if (to == Type::tf32) return of.template operator()<kTf32, std::uint32_t>();
  return to == Type::f16 ? of.template operator()<kF16, std::uint16_t>()
                         : of.template operator()<kBf16, std::uint16_t>();
}
Execute integral(Type type, Rounding rounding) {
  if (type == Type::f64) return &map_variant<IntegralDouble, double, double>;
  switch (rounding) {
    case Rounding::zero:
      return &map_lanes<Integral<Rounding::zero>, float, float>;
    case Rounding::down:
      return &map_lanes<Integral<Rounding::down>, float, float>;
    case Rounding::up:
      return &map_lanes<Integral<Rounding::up>, float, float>;
    default:
      return &map_lanes<Integral<Rounding::nearest>, float, float>;
  }
}

Execute same(Type type) {
  return type == Type::f64 ? &map_lanes<Same<double>, double, double>
                           : &map_lanes<Same<float>, float, float>;
}
Execute saturation(Type type) {
  switch (type) {
    case Type::f16:
      return &map_seldom<SaturatedBits<kF16>, std::uint16_t, std::uint16_t>;
    case Type::bf16:
      return &map_seldom<SaturatedBits<kBf16>, std::uint16_t, std::uint16_t>;
    case Type::f64:
      return &map_seldom<Saturated<Same<double>>, double, double>;
    default:
      return &map_seldom<Saturated<Same<float>>, float, float>;
  }
}

// Steps of which each works on what the one before it made.
struct Chain {
  Decoder& decoder;
  std::uint32_t slot;
  Step* last = nullptr;

  void then(Execute run, Type to, std::int64_t variant = 0) {
    const std::uint32_t made = decoder.fresh(bytes_of(to));
    last = &decoder.emit(run);
    last->from[0] = slot;
    last->offset = variant;
    last->to = slot = made;
  }
};

Rounding rounding_of(const ptx::Instruction& one) {
  if (one.has("rz") || one.has("rzi")) return Rounding::zero;
  if (one.has("rm") || one.has("rmi")) return Rounding::down;
  if (one.has("rp") || one.has("rpi")) return Rounding::up;
  return one.has("rna") ? Rounding::away : Rounding::nearest;
}

// To a whole number of 64 bits, which loses nothing.
void widen_whole(Chain& chain, Type from) {
  if (bytes_of(from) == 8) return;
  chain.then(resize(bytes_of(from), 8, is_signed(from)), is_signed(from) ? Type::s64 : Type::u64);
}
void then_integer(Chain& chain, Type to, Type from, Rounding rounding, bool saturates) {
  const auto variant = static_cast<std::int64_t>(rounding);
  if (!is_floating(from) && saturates) {
    widen_whole(chain, from);
    chain.then(clamping(to, is_signed(from)), to);
  } else if (!is_floating(from)) {
    chain.then(resize(bytes_of(from), bytes_of(to), is_signed(from)), to);
  } else if (const Execute quick = cutting_off(to, from);
             quick != nullptr && rounding == Rounding::zero) {
    chain.then(quick, to);
  } else {
    chain.then(to_integer(to, from), to, variant);
  }
}
void then_from_integer(Chain& chain, Type to, Type from, Rounding rounding) {
  if (is_half(to)) {
    widen_whole(chain, from);
    chain.then(is_signed(from) ? &map_seldom<WholeToOdd, double, std::int64_t>
                               : &map_seldom<WholeToOdd, double, std::uint64_t>,
               Type::f64);
    chain.then(narrowing(to, Type::f64), to, Narrowing::number(rounding, false));
  } else if (bytes_of(from) < 4) {  // exact
    chain.then(resize(bytes_of(from), 4, is_signed(from)), Type::s32);
    chain.then(nearest_from_integer(to, Type::s32), to);
  } else if (rounding == Rounding::nearest) {
    chain.then(nearest_from_integer(to, from), to);
  } else {
    widen_whole(chain, from);
    chain.then(from_integer(to, is_signed(from)), to, static_cast<std::int64_t>(rounding));
  }
}

// cvt{.rnd}{.ftz}{.relu}{.sat|.satfinite}.to.from d, a
void build_conversion(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  const Type to = ptx::type_of(one.modifiers[one.modifiers.size() - 2]);
  Type from = one.type();
  const Rounding rounding = rounding_of(one);
  const bool to_whole = one.has("rni") || one.has("rzi") || one.has("rmi") || one.has("rpi");
  Chain chain{.decoder = decoder, .slot = decoder.source(one.operands[1], from)};
  const bool stays_half = to == from && is_half(to);
  if (from == Type::f16 && to == Type::f64) {
    chain.then(&map_lanes<Widest, double, std::uint16_t>, to);
    from = to;
  } else if (is_half(from)) {
    chain.then(widening(from), Type::f32);
    if (from == Type::bf16 && one.has("ftz")) {
      chain.then(&map_lanes<Flushed<Settle>, float, float>, Type::f32);
    }
    from = Type::f32;
  } else if (one.has("ftz") && from == Type::f32 && to != Type::f16) {
    chain.then(&map_lanes<Flushed<Settle>, float, float>, from);
  }
  const auto variant = static_cast<std::int64_t>(rounding);
  if (!is_floating(to)) {
    then_integer(chain, to, from, rounding, one.has("sat"));
  } else if (!is_floating(from)) {
    then_from_integer(chain, to, from, rounding);
  } else {
    if (to_whole) chain.then(integral(from, rounding), from, variant);
    if (is_half(to) || to == Type::tf32) {
      const Rounding its = stays_half ? Rounding::nearest : rounding;
      chain.then(narrowing(to, from), to, Narrowing::number(its, one.has("satfinite")));
    } else if (to == Type::f32 && from == Type::f64) {
      chain.then(rounding == Rounding::nearest ? &map_lanes<ToFloat, float, double>
                                               : &map_variant<ToFloatIn, float, double>,
                 to, variant);
      if (one.has("ftz")) chain.then(&map_lanes<Flush, float, float>, to);
    } else if (to == Type::f64 && from == Type::f32) {
      chain.then(&map_lanes<Widest, double, float>, to);
    }
  }
  if (is_floating(to) && one.has("sat")) chain.then(saturation(to), to);
  if (one.has("relu")) {
    chain.then(to == Type::tf32 ? &map_seldom<Rectified<kF32>, std::uint32_t, std::uint32_t>
                                : &map_seldom<Rectified<kF16>, std::uint16_t, std::uint16_t>,
               to);
  }
  if (chain.last == nullptr) chain.then(same(to), to);
  chain.last->to = decoder.destination(one.operands[0], to);
  decoder.finish();
}

// ---- Two values at once: the first operand becomes the upper one. ----

template <Format format>
struct PairOf : Narrowing {
  using Narrowing::Narrowing;
  std::uint32_t operator()(float upper, float lower) const {
    return narrowed<format>(static_cast<double>(upper))
               << (format.places + format.exponent_bits + 1) |
           narrowed<format>(static_cast<double>(lower));
  }
};
template <Format format>
struct BytesOfHalves : PairOf<format> {
  using PairOf<format>::PairOf;
  std::uint16_t operator()(std::uint32_t halves) const {
    return static_cast<std::uint16_t>(
        PairOf<format>::operator()(widen<kF16>(halves >> 16), widen<kF16>(halves & 0xffff)));
  }
};
template <Format format>
struct HalvesOfBytes : PairOf<kF16> {
  using PairOf<kF16>::PairOf;
  std::uint32_t operator()(std::uint16_t bytes) const {
    return PairOf<kF16>::operator()(widen<format>(static_cast<std::uint32_t>(bytes >> 8)),
                                    widen<format>(static_cast<std::uint32_t>(bytes & 255)));
  }
};

void add_pair(std::vector<Form>& forms, const std::string& pattern, Type to,
              std::array<Type, 4> from, Execute run, std::int64_t variant) {
  forms.push_back({.pattern = pattern, .to = to, .from = from, .run = run, .variant = variant});
}
void add_pairs(std::vector<Form>& forms, bool rectifies) {
  using enum Rounding;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  const std::string relu = rectifies ? ".relu" : "";
  const auto pair = [&](const std::string& pattern, Execute run, Rounding rounding, bool finite,
                        Type to = Type::b32) {
    add_pair(forms, pattern, to, {Type::f32, Type::f32}, run,
             Narrowing::number(rounding, finite, rectifies));
  };
  const Execute f16 = &map_variant<PairOf<kF16>, U32, float, float>;
  const Execute bf16 = &map_variant<PairOf<kBf16>, U32, float, float>;
  pair("cvt.rn" + relu + ".f16x2.f32", f16, nearest, false);
  pair("cvt.rz" + relu + ".f16x2.f32", f16, zero, false);
  pair("cvt.rn" + relu + ".bf16x2.f32", bf16, nearest, false);
  pair("cvt.rz" + relu + ".bf16x2.f32", bf16, zero, false);
  for (const std::string& finite : {relu + ".satfinite", ".satfinite" + relu}) {
    pair("cvt.rn" + finite + ".f16x2.f32", f16, nearest, true);
    pair("cvt.rn" + finite + ".bf16x2.f32", bf16, nearest, true);
    pair("cvt.rz" + finite + ".f16x2.f32", f16, zero, true);
    pair("cvt.rz" + finite + ".bf16x2.f32", bf16, zero, true);
    if (!rectifies) break;
  }
  const auto bytes = [&]<Format format>(const std::string& name) {
    pair("cvt.rn.satfinite" + relu + "." + name + ".f32",
         &map_variant<PairOf<format>, U16, float, float>, nearest, true, Type::b16);
    add_pair(forms, "cvt.rn.satfinite" + relu + "." + name + ".f16x2", Type::b16, {Type::b32},
             &map_variant<BytesOfHalves<format>, U16, U32>,
             Narrowing::number(nearest, true, rectifies));
    add_pair(forms, "cvt.rn" + relu + ".f16x2." + name, Type::b32, {Type::b16},
             &map_variant<HalvesOfBytes<format>, U32, U16>,
             Narrowing::number(nearest, false, rectifies));
  };
  bytes.template operator()<kE4m3>("e4m3x2");
  bytes.template operator()<kE5m2>("e5m2x2");
}

// cvt.pack.sat: a above b; of bytes, both above the lower half of c.
// An integer of so few bits.
template <int places, bool is_signed>
struct Tiny {
  static constexpr std::int32_t kBeyond = 1 << (is_signed ? places - 1 : places);
  static std::uint32_t bits(std::int32_t value) {
    const std::int32_t its = std::clamp(value, is_signed ? -kBeyond : 0, kBeyond - 1);
    return static_cast<std::uint32_t>(its) & ((1u << places) - 1);
  }
  std::uint32_t operator()(std::int32_t a, std::int32_t b, std::uint32_t c) const {
    return c << 2 * places | bits(a) << places | bits(b);
  }
};
template <class To>
struct Pack {
  static std::uint32_t bits(std::int32_t value) {
    return static_cast<std::make_unsigned_t<To>>(Clamped<To, std::int32_t>{}(value));
  }
  std::uint32_t operator()(std::int32_t a, std::int32_t b) const { return bits(a) << 16 | bits(b); }
  std::uint32_t operator()(std::int32_t a, std::int32_t b, std::uint32_t c) const {
    return c << 16 | bits(a) << 8 | bits(b);
  }
};

}  // namespace

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

Execute resize(int from, int to, bool with_sign) {
  const auto to_size = [&]<class From>() -> Execute {
    switch (to) {
      case 1:
        return kConvert<std::uint8_t, From>;
      case 2:
        return kConvert<std::uint16_t, From>;
      case 4:
        return kConvert<std::uint32_t, From>;
      default:
        return kConvert<std::uint64_t, From>;
    }
  };
  switch (from) {
    case 1:
      return with_sign ? to_size.operator()<std::int8_t>() : to_size.operator()<std::uint8_t>();
    case 2:
      return with_sign ? to_size.operator()<std::int16_t>() : to_size.operator()<std::uint16_t>();
    case 4:
      return with_sign ? to_size.operator()<std::int32_t>() : to_size.operator()<std::uint32_t>();
    default:
      return to_size.operator()<std::uint64_t>();
  }
}

Execute widening(Type from) {
  return from == Type::f16 ? &map_lanes<Widen<kF16>, float, std::uint16_t>
                           : &map_lanes<Widen<kBf16>, float, std::uint16_t>;
}

void add_conversion_forms(std::vector<Form>& forms) {
  const std::string integers = "(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)";
  const std::string floats = "(.f16|.bf16|.f32|.f64)";
  const auto built = [&](const std::string& pattern) {
    add_built(forms, pattern, &build_conversion);
  };
  built("cvt[.sat]" + integers + integers);
  built("cvt(.rni|.rzi|.rmi|.rpi)[.ftz][.sat]" + integers + floats);
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat]" + floats + integers);
  built("cvt(.rni|.rzi|.rmi|.rpi)[.ftz][.sat].f32.f32");
  built("cvt(.rni|.rzi|.rmi|.rpi)[.sat].f64.f64");
  built("cvt(.rni|.rzi|.rmi|.rpi)[.sat].f16.f16");
  built("cvt[.rni|.rzi|.rmi|.rpi].bf16.bf16");
  built("cvt[.ftz][.sat].f32.f32");
  built("cvt[.sat].f64.f64");
  built("cvt[.sat].f16.f16");
  built("cvt[.ftz][.sat](.f32|.f64)(.f16|.bf16)");
  built("cvt[.ftz][.sat].f64.f32");
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat].f32.f64");
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat](.f16|.bf16)(.f16|.bf16|.f32|.f64)");
  built("cvt(.rn|.rz)[.relu][.satfinite](.f16|.bf16|.tf32).f32");
  built("cvt.rna[.satfinite].tf32.f32");
  add_pairs(forms, false);
  add_pairs(forms, true);
  const auto pack = [&]<class To>(const std::string& name) {
    if constexpr (sizeof(To) == 2) {
      forms.push_back({.pattern = "cvt.pack.sat." + name + ".s32",
                       .to = Type::b32,
                       .from = {Type::s32, Type::s32},
                       .run = &map_seldom<Pack<To>, std::uint32_t, std::int32_t, std::int32_t>});
    } else {
      forms.push_back(
          {.pattern = "cvt.pack.sat." + name + ".s32.b32",
           .to = Type::b32,
           .from = {Type::s32, Type::s32, Type::b32},
           .run = &map_seldom<Pack<To>, std::uint32_t, std::int32_t, std::int32_t, std::uint32_t>});
    }
  };
  pack.operator()<std::uint16_t>("u16");
  pack.operator()<std::int16_t>("s16");
  pack.operator()<std::uint8_t>("u8");
  pack.operator()<std::int8_t>("s8");
  const auto tiny = [&]<class Its>(const std::string& name, Its) {
    forms.push_back(
        {.pattern = "cvt.pack.sat." + name + ".s32.b32",
         .to = Type::b32,
         .from = {Type::s32, Type::s32, Type::b32},
         .run = &map_seldom<Its, std::uint32_t, std::int32_t, std::int32_t, std::uint32_t>});
  };
  tiny("u4", Tiny<4, false>{});
  tiny("s4", Tiny<4, true>{});
  tiny("u2", Tiny<2, false>{});
  tiny("s2", Tiny<2, true>{});
}

}  // namespace simt::machine
