// Conversions (PTX ISA 9.7.9.21). One instruction may be several steps: f16 and bf16 go by way of f32, which holds them; .ftz,
// .sat and .relu are steps of their own before or behind.
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
template <class To, class From>
constexpr Execute kConvert = &map_lanes<Convert<To, From>, To, From>;

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_floating(Type type) {
  return is_half(type) || type == Type::tf32 || type == Type::f32 || type == Type::f64;
}

// Too large is the largest, too small the smallest. NaN is what an H200 makes of it.
template <class To, Rounding rounding>
struct ToWhole {
  template <class From>
  To operator()(From value) const {
    using Bits = std::make_unsigned_t<To>;
    if (std::isnan(value)) {
      constexpr auto kTop = static_cast<Bits>(Bits{1} << (sizeof(To) * 8 - 1));
      return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(kTop) : To{0};
    }
    From whole = value;
    if constexpr (rounding == Rounding::nearest) whole = std::nearbyint(value);
    if constexpr (rounding == Rounding::zero) whole = std::trunc(value);
    if constexpr (rounding == Rounding::down) whole = std::floor(value);
    if constexpr (rounding == Rounding::up) whole = std::ceil(value);
    // 2^n is exact, the largest number below it may not be.
    constexpr auto kBeyond =
        static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * static_cast<From>(2);
    if (whole >= kBeyond) return std::numeric_limits<To>::max();
    if (whole < static_cast<From>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    return static_cast<To>(whole);
  }
};
template <Rounding rounding>
struct Integral {
  template <class T>
  T operator()(T value) const {
    if constexpr (rounding == Rounding::nearest) return settled(std::nearbyint(value), value);
    if constexpr (rounding == Rounding::zero) return settled(std::trunc(value), value);
    if constexpr (rounding == Rounding::down) return settled(std::floor(value), value);
    return settled(std::ceil(value), value);
  }
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
template <class To, Rounding rounding>
struct FromWhole {
  template <class From>
  To operator()(From value) const {
    if constexpr (rounding == Rounding::nearest) return static_cast<To>(value);
    if constexpr (std::is_same_v<To, float>) {
      return std::bit_cast<float>(narrow<kF32>(WholeToOdd{}(value), rounding));
    } else {
      return whole_to_double(value < 0, magnitude_of(value), rounding);
    }
  }
};

template <Format format, Rounding rounding, bool finite = false>
struct Narrow {
  template <class From>
  std::uint32_t operator()(From value) const {
    if (std::is_same_v<From, double> && value != value) {
      // Of a double what there is room for.
      const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
      const auto fraction = static_cast<std::uint32_t>(bits >> (52 - format.places));
      return (bits >> 63 != 0 ? format.sign() : 0) | format.infinity() | 1u << (format.places - 1) |
             (fraction & ~(~0u << format.places));
    }
    if (rounding == Rounding::away && value != value) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 13 << 13;
    }
    const std::uint32_t bits = narrow<format>(static_cast<double>(value), rounding, finite);
    // TF32 is a float without its last 13 bits.
    return format.places + format.exponent_bits == 18 ? bits << 13 : bits;
  }
};
template <Rounding rounding>
struct ToFloat {
  float operator()(double value) const {
    return value == value ? to_float<rounding>(value, 0) : static_cast<float>(value);
  }
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
template <class Visit>
Execute with_rounding(Rounding rounding, Visit visit) {
  switch (rounding) {
    case Rounding::zero:
      return visit.template operator()<Rounding::zero>();
    case Rounding::down:
      return visit.template operator()<Rounding::down>();
    case Rounding::up:
      return visit.template operator()<Rounding::up>();
    default:
      return visit.template operator()<Rounding::nearest>();
  }
}

// Integers of 32 and 64 bits are what programs mostly have.
template <class T>
constexpr bool kIsShort = sizeof(T) < 4;

Execute between_integers(Type to, Type from, bool saturates) {
  if (!saturates) return resize(bytes_of(from), bytes_of(to), is_signed(from));
  return with_integer(to, [&]<class To>() {
    return with_integer(
        from, []<class From>() -> Execute { return &map_seldom<Clamped<To, From>, To, From>; });
  });
}
Execute to_integer(Type to, Type from, Rounding rounding) {
  return with_integer(to, [&]<class To>() {
    return with_rounding(rounding, [&]<Rounding its>() -> Execute {
      constexpr bool kIsSeldom = kIsShort<To> || its != Rounding::zero;
      return from == Type::f64 ? mapped<kIsSeldom, ToWhole<To, its>, To, double>()
                               : mapped<kIsSeldom, ToWhole<To, its>, To, float>();
    });
  });
}
Execute from_integer(Type to, Type from, Rounding rounding) {
  return with_integer(from, [&]<class From>() {
    return with_rounding(rounding, [&]<Rounding its>() -> Execute {
      constexpr bool kIsSeldom = kIsShort<From> || its != Rounding::nearest;
      return to == Type::f64 ? mapped<kIsSeldom, FromWhole<double, its>, double, From>()
                             : mapped<kIsSeldom, FromWhole<float, its>, float, From>();
    });
  });
}
// To f16, bf16 and tf32, from f32 and f64.
template <bool finite>
Execute narrowing(Type to, Type from, Rounding rounding) {
  const auto of = [&]<Format format, class To, Rounding its>() -> Execute {
    return from == Type::f64 ? &map_seldom<Narrow<format, its, finite>, To, double>
                             : &map_seldom<Narrow<format, its, finite>, To, float>;
  };
  if (to == Type::tf32 && rounding == Rounding::away) {
    return of.template operator()<kTf32, std::uint32_t, Rounding::away>();
  }
  return with_rounding(rounding, [&]<Rounding its>() -> Execute {
    if (to == Type::tf32) return of.template operator()<kTf32, std::uint32_t, its>();
    return to == Type::f16 ? of.template operator()<kF16, std::uint16_t, its>()
                           : of.template operator()<kBf16, std::uint16_t, its>();
  });
}
Execute integral(Type type, Rounding rounding) {
  return with_rounding(rounding, [&]<Rounding its>() -> Execute {
    return type == Type::f64 ? &map_seldom<Integral<its>, double, double>
                             : &map_lanes<Integral<its>, float, float>;
  });
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

  void then(Execute run, Type to) {
    const std::uint32_t made = decoder.fresh(bytes_of(to));
    last = &decoder.emit(run);
    last->from[0] = slot;
    last->to = slot = made;
  }
};

Rounding rounding_of(const ptx::Instruction& one) {
  if (one.has("rz") || one.has("rzi")) return Rounding::zero;
  if (one.has("rm") || one.has("rmi")) return Rounding::down;
  if (one.has("rp") || one.has("rpi")) return Rounding::up;
  return one.has("rna") ? Rounding::away : Rounding::nearest;
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
    from = Type::f32;
  } else if (one.has("ftz") && from == Type::f32 && !is_half(to)) {
    chain.then(&map_lanes<Flushed<Settle>, float, float>, from);
  }
  if (!is_floating(to)) {
    chain.then(is_floating(from) ? to_integer(to, from, rounding)
                                 : between_integers(to, from, one.has("sat")),
               to);
  } else if (!is_floating(from)) {
    if (is_half(to)) {
      chain.then(
          with_integer(
              from, []<class From>() -> Execute { return &map_seldom<WholeToOdd, double, From>; }),
          Type::f64);
      chain.then(narrowing<false>(to, Type::f64, rounding), to);
    } else {
      chain.then(from_integer(to, from, rounding), to);
    }
  } else {
    if (to_whole) chain.then(integral(from, rounding), from);
    if (is_half(to) || to == Type::tf32) {
      const Rounding its = stays_half ? Rounding::nearest : rounding;
      chain.then(
          one.has("satfinite") ? narrowing<true>(to, from, its) : narrowing<false>(to, from, its),
          to);
    } else if (to == Type::f32 && from == Type::f64) {
      chain.then(with_rounding(rounding,
                               []<Rounding its>() -> Execute {
                                 return &map_lanes<ToFloat<its>, float, double>;
                               }),
                 to);
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

template <Format format, Rounding rounding, bool finite, bool rectifies>
struct PairOf {
  std::uint32_t operator()(float upper, float lower) const {
    const auto each = [](float value) {
      const std::uint32_t bits = narrow<format>(static_cast<double>(value), rounding, finite);
      return rectifies ? Rectified<format>{}(bits) : bits;
    };
    return each(upper) << (format.places + format.exponent_bits + 1) | each(lower);
  }
};
template <Format format, bool rectifies>
struct BytesOfHalves {
  std::uint16_t operator()(std::uint32_t halves) const {
    return static_cast<std::uint16_t>(PairOf<format, Rounding::nearest, true, rectifies>{}(
        widen<kF16>(halves >> 16), widen<kF16>(halves & 0xffff)));
  }
};
template <Format format, bool rectifies>
struct HalvesOfBytes {
  std::uint32_t operator()(std::uint16_t bytes) const {
    return PairOf<kF16, Rounding::nearest, false, rectifies>{}(
        widen<format>(static_cast<std::uint32_t>(bytes >> 8)),
        widen<format>(static_cast<std::uint32_t>(bytes & 255)));
  }
};

template <bool rectifies>
void add_pairs(std::vector<Form>& forms) {
  const std::string relu = rectifies ? ".relu" : "";
  const auto pair = [&]<Format format, Rounding rounding, bool finite>(const std::string& pattern) {
    constexpr bool kBytes = format.places + format.exponent_bits == 7;
    using To = std::conditional_t<kBytes, std::uint16_t, std::uint32_t>;
    forms.push_back(
        {.pattern = pattern,
         .to = kBytes ? Type::b16 : Type::b32,
         .from = {Type::f32, Type::f32},
         .run = &map_seldom<PairOf<format, rounding, finite, rectifies>, To, float, float>});
  };
  using enum Rounding;
  pair.template operator()<kF16, nearest, false>("cvt.rn" + relu + ".f16x2.f32");
  pair.template operator()<kF16, zero, false>("cvt.rz" + relu + ".f16x2.f32");
  pair.template operator()<kBf16, nearest, false>("cvt.rn" + relu + ".bf16x2.f32");
  pair.template operator()<kBf16, zero, false>("cvt.rz" + relu + ".bf16x2.f32");
  pair.template operator()<kF16, nearest, true>("cvt.rn" + relu + ".satfinite.f16x2.f32");
  pair.template operator()<kBf16, nearest, true>("cvt.rn" + relu + ".satfinite.bf16x2.f32");
  pair.template operator()<kE4m3, nearest, true>("cvt.rn.satfinite" + relu + ".e4m3x2.f32");
  pair.template operator()<kE5m2, nearest, true>("cvt.rn.satfinite" + relu + ".e5m2x2.f32");
  const auto bytes = [&]<Format format>(const std::string& name) {
    forms.push_back(
        {.pattern = "cvt.rn.satfinite" + relu + "." + name + ".f16x2",
         .to = Type::b16,
         .from = {Type::b32},
         .run = &map_seldom<BytesOfHalves<format, rectifies>, std::uint16_t, std::uint32_t>});
    forms.push_back(
        {.pattern = "cvt.rn" + relu + ".f16x2." + name,
         .to = Type::b32,
         .from = {Type::b16},
         .run = &map_seldom<HalvesOfBytes<format, rectifies>, std::uint32_t, std::uint16_t>});
  };
  bytes.template operator()<kE4m3>("e4m3x2");
  bytes.template operator()<kE5m2>("e5m2x2");
}

// cvt.pack.sat: a above b; of bytes, both above the lower half of c.
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
    forms.push_back({.pattern = pattern, .build = &build_conversion});
  };
  built("cvt[.sat]" + integers + integers);
  built("cvt(.rni|.rzi|.rmi|.rpi)[.ftz][.sat]" + integers + floats);
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat]" + floats + integers);
  built("cvt(.rni|.rzi|.rmi|.rpi)[.ftz][.sat].f32.f32");
  built("cvt(.rni|.rzi|.rmi|.rpi)[.sat].f64.f64");
  built("cvt(.rni|.rzi|.rmi|.rpi)[.sat].f16.f16");
  built("cvt[.ftz][.sat].f32.f32");
  built("cvt[.sat].f64.f64");
  built("cvt[.sat].f16.f16");
  built("cvt[.ftz][.sat](.f32|.f64)(.f16|.bf16)");
  built("cvt[.ftz][.sat].f64.f32");
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat].f32.f64");
  built("cvt(.rn|.rz|.rm|.rp)[.ftz][.sat](.f16|.bf16)(.f16|.bf16|.f32|.f64)");
  built("cvt(.rn|.rz)[.relu][.satfinite](.f16|.bf16|.tf32).f32");
  built("cvt.rna[.satfinite].tf32.f32");
  add_pairs<false>(forms);
  add_pairs<true>(forms);
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
}

}  // namespace simt::machine
