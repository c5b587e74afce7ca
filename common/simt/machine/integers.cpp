// Integer arithmetic that is more than one operation on whole registers: carries from one instruction to the next, products
// of 24 bits, scalar products of bytes, two numbers in a register (PTX ISA 9.7.1, 9.7.2 and 9.7.7).
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Type;
using U32 = std::uint32_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U64 = std::uint64_t;

// ---- Carries: a bit per lane, which .cc writes and addc, subc and madc read. ----
//
// A GPU subtracts by a + ~b + 1, and nvcc's division of 128 bits adds the carry of a subtraction: there is one flag, which
// a subtraction that borrows leaves clear.

template <class T>
T upper_half(T a, T b) {
  if constexpr (sizeof(T) == 4) {
    using Wide = std::conditional_t<std::is_signed_v<T>, S64, U64>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> 32);
  } else {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> 64);
  }
}

enum class Sum : std::uint8_t { add, subtract, low_product, high_product };

// d = a + b + carry, a + ~b + carry, or a * b + c + carry; and whether that was too large.
template <class T, Sum which, bool reads>
const Step* with_carry(const Step* step, Warp& warp) {
  using U = std::make_unsigned_t<T>;
  U32& carries = warp.predicate(static_cast<U32>(step->offset));
  const T* const a = warp.values<const T>(step->from[0]);
  const T* const b = warp.values<const T>(step->from[1]);
  const T* const c = warp.values<const T>(step->from[2]);
  T* const to = warp.values<T>(step->to);
  U32 made = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) == 0) continue;
    const U carry = reads ? static_cast<U>(carries >> lane & 1) : U{which == Sum::subtract};
    U first = static_cast<U>(a[lane]), second = static_cast<U>(b[lane]);
    if constexpr (which == Sum::low_product || which == Sum::high_product) {
      first =
          which == Sum::low_product ? first * second : static_cast<U>(upper_half(a[lane], b[lane]));
      second = static_cast<U>(c[lane]);
    }
    if constexpr (which == Sum::subtract) second = static_cast<U>(~second);
    const U between = first + second;
    const U result = between + carry;
    made |= static_cast<U32>(between < first || result < between) << lane;
    to[lane] = static_cast<T>(result);
  }
  if (step->keeps) carries = (carries & ~warp.active) | made;
  return step + 1;
}

template <Sum which, class T>
Execute with_carry_of(bool reads) {
  return reads ? &with_carry<T, which, true> : &with_carry<T, which, false>;
}
// Signs matter in the upper half of a product only.
Execute with_carry(Sum which, Type type, bool reads) {
  const bool is_wide = bytes_of(type) == 8;
  switch (which) {
    case Sum::add:
      return is_wide ? with_carry_of<Sum::add, U64>(reads) : with_carry_of<Sum::add, U32>(reads);
    case Sum::subtract:
      return is_wide ? with_carry_of<Sum::subtract, U64>(reads)
                     : with_carry_of<Sum::subtract, U32>(reads);
    case Sum::low_product:
      return is_wide ? with_carry_of<Sum::low_product, U64>(reads)
                     : with_carry_of<Sum::low_product, U32>(reads);
    default:
      break;
  }
  if (is_wide) {
    return is_signed(type) ? with_carry_of<Sum::high_product, S64>(reads)
                           : with_carry_of<Sum::high_product, U64>(reads);
  }
  return is_signed(type) ? with_carry_of<Sum::high_product, S32>(reads)
                         : with_carry_of<Sum::high_product, U32>(reads);
}

// add.cc and addc[.cc], say.
void build_with_carry(Decoder& decoder, const ptx::Instruction& one) {
  const std::string_view opcode = one.opcode;
  const Sum which = opcode.starts_with("add")   ? Sum::add
                    : opcode.starts_with("sub") ? Sum::subtract
                    : one.has("lo")             ? Sum::low_product
                                                : Sum::high_product;
  const std::size_t count = opcode.starts_with("mad") ? 4 : 3;
  if (one.operands.size() != count) decoder.refuse("another number of operands than known here");
  U32 from[3] = {};
  for (std::size_t i = 1; i < count; ++i) {
    from[i - 1] = decoder.source(one.operands[i], one.type());
  }
  const U32 to = decoder.destination(one.operands[0], one.type());
  Step& step = decoder.emit(with_carry(which, one.type(), opcode.ends_with('c')));
  step.to = to;
  std::copy(std::begin(from), std::end(from), std::begin(step.from));
  step.offset = decoder.carry();
  step.keeps = one.has("cc");
  decoder.finish();
}

void add_carries(std::vector<Form>& forms) {
  const std::string types = "(.u32|.s32|.u64|.s64)";
  add_built(forms, "add.cc" + types, &build_with_carry);
  add_built(forms, "addc[.cc]" + types, &build_with_carry);
  add_built(forms, "sub.cc" + types, &build_with_carry);
  add_built(forms, "subc[.cc]" + types, &build_with_carry);
  add_built(forms, "mad(.lo|.hi).cc" + types, &build_with_carry);
  add_built(forms, "madc(.lo|.hi)[.cc]" + types, &build_with_carry);
}

// ---- Others: a value per lane from values per lane. ----

void add_plain(std::vector<Form>& forms, std::string_view pattern, Type to,
               const std::array<Type, 4>& from, Execute run) {
  Form& form = forms.emplace_back();
  form.pattern = pattern;
  form.to = to;
  form.from = from;
  form.run = run;
}
template <Type type, Type... from, class Operation>
void plain(std::vector<Form>& forms, std::string_view pattern, Operation) {
  add_plain(forms, pattern, type, {from...}, &map_seldom<Operation, Lane<type>, Lane<from>...>);
}

S32 saturated(S64 value) {
  return static_cast<S32>(
      std::clamp<S64>(value, std::numeric_limits<S32>::min(), std::numeric_limits<S32>::max()));
}

// The lower 24 bits of a word, with the sign that they have.
S64 lower24(S32 a) { return static_cast<S32>(static_cast<U32>(a) << 8) >> 8; }
U64 lower24(U32 a) { return a & 0xff'ffff; }

template <Type type>
void add_products_of_24(std::vector<Form>& forms) {
  using T = Lane<type>;
  const std::string tail = "." + std::string(name_of(type));
  plain<type, type, type>(forms, "mul24.lo" + tail,
                          [](T a, T b) { return static_cast<T>(lower24(a) * lower24(b)); });
  plain<type, type, type>(forms, "mul24.hi" + tail,
                          [](T a, T b) { return static_cast<T>(lower24(a) * lower24(b) >> 16); });
  plain<type, type, type, type>(forms, "mad24.lo" + tail, [](T a, T b, T c) {
    return static_cast<T>(static_cast<U32>(lower24(a) * lower24(b)) + static_cast<U32>(c));
  });
  plain<type, type, type, type>(forms, "mad24.hi" + tail, [](T a, T b, T c) {
    return static_cast<T>(static_cast<U32>(lower24(a) * lower24(b) >> 16) + static_cast<U32>(c));
  });
}

// Byte or half i of a word, as a number of type T.
template <class T>
S64 piece(U32 word, int i) {
  return static_cast<T>(word >> static_cast<int>(sizeof(T)) * 8 * i);
}

template <class Byte, class Half>
struct Names {
  using byte = Byte;
  using half = Half;
};
using Signed = Names<std::int8_t, std::int16_t>;
using Unsigned = Names<std::uint8_t, std::uint16_t>;

template <class A, class B>
void add_scalar_products(std::vector<Form>& forms, const std::string& types) {
  plain<Type::b32, Type::b32, Type::b32, Type::b32>(forms, "dp4a" + types, [](U32 a, U32 b, U32 c) {
    S64 sum = c;
    for (int i = 0; i < 4; ++i) {
      sum += piece<typename A::byte>(a, i) * piece<typename B::byte>(b, i);
    }
    return static_cast<U32>(sum);
  });
  const auto two = [&]<int first>(const std::string& which) {
    plain<Type::b32, Type::b32, Type::b32, Type::b32>(
        forms, "dp2a" + which + types, [](U32 a, U32 b, U32 c) {
          S64 sum = c;
          for (int i = 0; i < 2; ++i) {
            sum += piece<typename A::half>(a, i) * piece<typename B::byte>(b, first + i);
          }
          return static_cast<U32>(sum);
        });
  };
  two.template operator()<0>(".lo");
  two.template operator()<2>(".hi");
}

// Two numbers of 16 bits in a word.
template <class T, class Operation>
struct Both {
  U32 operator()(U32 a, U32 b) const {
    U32 result = 0;
    for (int i = 0; i < 2; ++i) {
      const auto its = static_cast<std::uint16_t>(
          Operation{}(static_cast<S32>(piece<T>(a, i)), static_cast<S32>(piece<T>(b, i))));
      result |= U32{its} << 16 * i;
    }
    return result;
  }
};
template <class T, class Operation>
void add_both(std::vector<Form>& forms, const std::string& pattern, Operation) {
  plain<Type::b32, Type::b32, Type::b32>(forms, pattern, Both<T, Operation>{});
}

void add_pairs(std::vector<Form>& forms) {
  const auto sum = [](S32 a, S32 b) { return a + b; };
  const auto least = [](S32 a, S32 b) { return std::min(a, b); };
  const auto greatest = [](S32 a, S32 b) { return std::max(a, b); };
  const auto least_relu = [](S32 a, S32 b) { return std::max(std::min(a, b), 0); };
  const auto greatest_relu = [](S32 a, S32 b) { return std::max({a, b, 0}); };
  using S16 = std::int16_t;
  using U16 = std::uint16_t;
  add_both<U16>(forms, "add(.u16x2|.s16x2)", sum);
  add_both<U16>(forms, "min.u16x2", least);
  add_both<U16>(forms, "max.u16x2", greatest);
  add_both<S16>(forms, "min.s16x2", least);
  add_both<S16>(forms, "max.s16x2", greatest);
  add_both<S16>(forms, "min.relu.s16x2", least_relu);
  add_both<S16>(forms, "max.relu.s16x2", greatest_relu);
  // nvcc's headers write .relu behind the type.
  for (const std::string tail : {".relu.s32", ".s32.relu"}) {
    plain<Type::s32, Type::s32, Type::s32>(forms, "min" + tail, least_relu);
    plain<Type::s32, Type::s32, Type::s32>(forms, "max" + tail, greatest_relu);
  }
  add_both<S16>(forms, "min.s16x2.relu", least_relu);
  add_both<S16>(forms, "max.s16x2.relu", greatest_relu);
}

// The lowest `length` bits with what is above them; all of 32 and more.
template <class T>
T extended(T a, U32 length) {
  if (length == 0) return 0;
  if (length >= 32) return a;
  return static_cast<T>(static_cast<U32>(a) << (32 - length)) >> (32 - length);
}

void add_bits(std::vector<Form>& forms) {
  plain<Type::u32, Type::u32, Type::u32>(forms, "szext.clamp.u32",
                                         [](U32 a, U32 n) { return extended(a, n); });
  plain<Type::s32, Type::s32, Type::u32>(forms, "szext.clamp.s32",
                                         [](S32 a, U32 n) { return extended(a, n); });
  plain<Type::u32, Type::u32, Type::u32>(forms, "szext.wrap.u32",
                                         [](U32 a, U32 n) { return extended(a, n & 31); });
  plain<Type::s32, Type::s32, Type::u32>(forms, "szext.wrap.s32",
                                         [](S32 a, U32 n) { return extended(a, n & 31); });
  plain<Type::b32, Type::u32, Type::u32>(forms, "bmsk.clamp.b32", [](U32 position, U32 length) {
    if (position >= 32) return 0u;
    return (length >= 32 ? ~0u : (1u << length) - 1) << position;
  });
  plain<Type::b32, Type::u32, Type::u32>(forms, "bmsk.wrap.b32", [](U32 position, U32 length) {
    return ((1u << (length & 31)) - 1) << (position & 31);
  });
  // The n-th bit that is set, counted from bit `base`, upwards or downwards.
  plain<Type::b32, Type::b32, Type::u32, Type::s32>(
      forms, "fns.b32", [](U32 mask, U32 base, S32 n) {
        if (n == std::numeric_limits<S32>::min()) return 0u;  // an H200's answer
        S64 at = base;
        S64 further = n == 0 ? 0 : (n > 0 ? S64{n} : -S64{n}) - 1;
        for (; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
          if ((mask >> at & 1) != 0 && further-- == 0) return static_cast<U32>(at);
          if (n == 0) break;
        }
        return ~0u;
      });

  // Bytes of two words in an order that a mode names: byte i of the result is that one.
  const auto permutation = [&]<class Which>(const std::string& mode, Which) {
    plain<Type::b32, Type::b32, Type::b32, Type::b32>(
        forms, "prmt.b32" + mode, [](U32 a, U32 b, U32 c) {
          const U64 bytes = U64{b} << 32 | a;
          U32 result = 0;
          for (U32 i = 0; i < 4; ++i) {
            result |= static_cast<U32>(bytes >> 8 * (Which{}(c & 3, i) & 7) & 255) << 8 * i;
          }
          return result;
        });
  };
  permutation(".f4e", [](U32 n, U32 i) { return n + i; });
  permutation(".b4e", [](U32 n, U32 i) { return n - i; });
  permutation(".rc8", [](U32 n, U32) { return n; });
  permutation(".ecl", [](U32 n, U32 i) { return std::max(n, i); });
  permutation(".ecr", [](U32 n, U32 i) { return std::min(n, i); });
  permutation(".rc16", [](U32 n, U32 i) { return (n & 1) * 2 + (i & 1); });
}

}  // namespace

void add_integer_forms(std::vector<Form>& forms) {
  add_carries(forms);
  plain<Type::s32, Type::s32, Type::s32>(forms, "add.sat.s32",
                                         [](S32 a, S32 b) { return saturated(S64{a} + b); });
  plain<Type::s32, Type::s32, Type::s32>(forms, "sub.sat.s32",
                                         [](S32 a, S32 b) { return saturated(S64{a} - b); });
  plain<Type::s32, Type::s32, Type::s32, Type::s32>(
      forms, "mad.hi.sat.s32",
      [](S32 a, S32 b, S32 c) { return saturated((S64{a} * b >> 32) + c); });
  plain<Type::s32, Type::s32, Type::s32, Type::s32>(
      forms, "mad24.hi.sat.s32",
      [](S32 a, S32 b, S32 c) { return saturated((lower24(a) * lower24(b) >> 16) + c); });
  add_products_of_24<Type::u32>(forms);
  add_products_of_24<Type::s32>(forms);
  add_scalar_products<Unsigned, Unsigned>(forms, ".u32.u32");
  add_scalar_products<Unsigned, Signed>(forms, ".u32.s32");
  add_scalar_products<Signed, Unsigned>(forms, ".s32.u32");
  add_scalar_products<Signed, Signed>(forms, ".s32.s32");
  add_pairs(forms);
  add_bits(forms);
}

}  // namespace simt::machine
