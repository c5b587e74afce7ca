// Arithmetic, logic and comparisons (PTX ISA 9.7.1 to 9.7.8). Operations on lanes that are not active compute on what
// the registers happen to hold, so none may trap: a division by zero has a value here.
#include <algorithm>
#include <bit>
#include <limits>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Type;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
inline constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

template <int kFrom, class Operation>
void integers(std::vector<Form>& forms, std::string_view pattern, Operation operation) {
  same<kFrom, Type::s32, Type::u32, Type::s64, Type::u64>(forms, pattern, operation);
  seldom<kFrom, Type::s16, Type::u16>(forms, pattern, operation);
}
template <int kFrom, class Operation>
void words(std::vector<Form>& forms, std::string_view pattern, Operation operation) {
  same<kFrom, Type::b32, Type::b64>(forms, pattern, operation);
  seldom<kFrom, Type::b16>(forms, pattern, operation);
}
template <int kFrom, class Operation>
void seldom_integers(std::vector<Form>& forms, std::string_view pattern, Operation operation) {
  seldom<kFrom, Type::s16, Type::u16, Type::s32, Type::u32, Type::s64, Type::u64>(forms, pattern,
                                                                                  operation);
}

// The full product, and its upper half.
template <class T>
auto product(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    __extension__ using Wide = __int128;
    __extension__ using UnsignedWide = unsigned __int128;
    return std::is_signed_v<T> ? static_cast<UnsignedWide>(static_cast<Wide>(a) * b)
                               : static_cast<UnsignedWide>(a) * b;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(a) * b;
  } else {
    return static_cast<std::uint64_t>(a) * b;
  }
}
struct High {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product(a, b) >> kBits<T>);
  }
};
struct Low {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~Unsigned<T>{0});  // as an H200 has it
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~Unsigned<T>{0});  // as an H200 has it
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
// Who divides by zero is told.
template <class Operation, ptx::Type type>
const Step* divide(const Step* step, Warp& warp) {
  using T = Lane<type>;
  const T* const by = warp.values<const T>(step->from[1]);
  std::uint32_t zeros = 0;
  for (int lane = 0; lane < kLanes; ++lane) zeros |= (by[lane] == 0 ? 1u : 0u) << lane;
  if (zeros &= warp.active; zeros != 0) {
    warp.block->grid->observer->meaningless(warp, *step, zeros, "division_by_zero");
  }
  return map_seldom<Operation, T, T, T>(step, warp);
}
template <class Operation>
void add_division(std::vector<Form>& forms, std::string_view opcode) {
  const auto add = [&]<Type... types>() {
    (add_row(forms, opcode, types, 2, &divide<Operation, types>), ...);
  };
  add.template operator()<Type::s16, Type::u16, Type::s32, Type::u32, Type::s64, Type::u64>();
}
struct Absolute {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Subtract{}(T{0}, a) : a;
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return Subtract{}(T{0}, a);
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

template <Type narrow, Type wide>
void add_wide(std::vector<Form>& forms) {
  using N = Lane<narrow>;
  using W = Lane<wide>;
  const auto times = [](N a, N b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); };
  const auto times_plus = [](N a, N b, W c) {
    return static_cast<W>(static_cast<Unsigned<W>>(static_cast<W>(a) * static_cast<W>(b)) +
                          static_cast<Unsigned<W>>(c));
  };
  add_row(forms, "mul.wide", narrow, wide, {narrow, narrow}, &map_lanes<decltype(times), W, N, N>);
  add_row(forms, "mad.wide", narrow, wide, {narrow, narrow, wide},
          &map_lanes<decltype(times_plus), W, N, N, W>);
}

// A shift's amount is a u32, and more than the width shifts all out.
template <Type type>
void add_shifts(std::vector<Form>& forms) {
  using T = Lane<type>;
  const auto add = [&]<class Operation>(std::string_view opcode, Operation) {
    add_row(forms, opcode, type, type, {type, Type::u32},
            mapped<sizeof(T) == 2, Operation, T, T, std::uint32_t>());
  };
  if constexpr (type == Type::b16 || type == Type::b32 || type == Type::b64) {
    add("shl", [](T a, std::uint32_t n) { return n < kBits<T> ? static_cast<T>(a << n) : T{0}; });
  }
  add("shr", [](T a, std::uint32_t n) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> std::min<std::uint32_t>(n, kBits<T> - 1));
    } else {
      return n < kBits<T> ? static_cast<T>(a >> n) : T{0};
    }
  });
}

// Position or length of a field of bits: mod 256 (9.7.1.20); of 64 bits an H200 takes it as it is.
template <class T>
std::uint32_t of_field(std::uint32_t value) {
  return sizeof(T) == 8 ? value : value & 255;
}
template <Type type>
void add_fields(std::vector<Form>& forms) {
  using T = Lane<type>;
  const auto extract = [](T a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t position = of_field<T>(b), length = of_field<T>(c);
    constexpr std::uint32_t kAll = kBits<T>;
    if (length == 0) return T{0};
    // What is shifted out above comes back below; beyond the word a signed one goes on with its sign.
    if (position >= kAll) return std::is_signed_v<T> ? static_cast<T>(a >> (kAll - 1)) : T{0};
    const std::uint32_t kept = std::min(length, kAll - position);
    const auto up = static_cast<T>(static_cast<Unsigned<T>>(a) << (kAll - position - kept));
    return static_cast<T>(up >> (kAll - kept));
  };
  add_row(forms, "bfe", type, type, {type, Type::u32, Type::u32},
          mapped<sizeof(T) == 8, decltype(extract), T, T, std::uint32_t, std::uint32_t>());
}
template <Type type>
void add_insert(std::vector<Form>& forms) {
  using T = Lane<type>;
  const auto insert = [](T a, T b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t position = of_field<T>(c), length = of_field<T>(d);
    if (position >= kBits<T> || length == 0) return b;
    const T ones =
        length >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    const T mask = static_cast<T>(ones << position);
    return static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask));
  };
  add_row(forms, "bfi", type, type, {type, type, Type::u32, Type::u32},
          mapped<sizeof(T) == 8, decltype(insert), T, T, T, std::uint32_t, std::uint32_t>());
}

template <Type type>
void add_counts(std::vector<Form>& forms) {
  using T = Lane<type>;
  const auto add = [&]<class Operation>(std::string_view pattern, Operation) {
    add_row(forms, pattern, type, Type::u32, {type}, &map_seldom<Operation, std::uint32_t, T>);
  };
  if constexpr (type == Type::b32 || type == Type::b64) {
    add("popc", [](T a) { return static_cast<std::uint32_t>(std::popcount(a)); });
    add("clz", [](T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); });
  } else {
    // The uppermost bit that differs from the sign; none: all ones.
    const auto find = [](T a) {
      const auto bits = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
      return bits == 0 ? ~0u : static_cast<std::uint32_t>(kBits<T> - 1 - std::countl_zero(bits));
    };
    const auto find_shift = [](T a) {
      const auto bits = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
      return bits == 0 ? ~0u : static_cast<std::uint32_t>(std::countl_zero(bits));
    };
    add("bfind", find);
    add("bfind.shiftamt", find_shift);
  }
}

// Of each bit of a, b and c what a table of eight bits has.
struct Lookup {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                           std::uint32_t table) const {
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      if ((table >> i & 1) == 0) continue;
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    }
    return result;
  }
};
// lop3.or.b32 d|p, a, b, c, table, q: p, whether there is a bit, or q.
template <bool is_or>
const Step* test_lookup(const Step* step, Warp& warp) {
  const std::uint32_t* const value = warp.values<const std::uint32_t>(step->from[0]);
  std::uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits |= static_cast<std::uint32_t>(value[lane] != 0) << lane;
  }
  const std::uint32_t other = warp.predicate(step->from[1]) ^ (step->keeps ? 0 : kAllLanes);
  bits = is_or ? bits | other : bits & other;
  std::uint32_t& to = warp.predicate(step->to);
  to = (to & ~warp.active) | (bits & warp.active);
  return step + 1;
}
void build_lop3_and_test(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 6 || one.operands[0].kind != ptx::Operand::Kind::pair) {
    decoder.refuse("another number of operands than known here");
  }
  std::uint32_t from[4] = {};
  for (std::size_t i = 0; i < 4; ++i) from[i] = decoder.source(one.operands[i + 1], Type::b32);
  const std::uint32_t other = decoder.source(one.operands[5], Type::pred);
  const std::uint32_t value = decoder.destination(one.operands[0].parts[0], Type::b32);
  const std::uint32_t holds = decoder.destination(one.operands[0].parts[1], Type::pred);
  using U32 = std::uint32_t;
  Step& lookup = decoder.emit(&map_lanes<Lookup, U32, U32, U32, U32, U32>);
  std::copy(std::begin(from), std::end(from), std::begin(lookup.from));
  lookup.to = value;
  Step& test = decoder.emit(one.has("or") ? &test_lookup<true> : &test_lookup<false>);
  test.from[0] = value;
  test.from[1] = other;
  test.keeps = !one.operands[5].negated;
  test.to = holds;
}

void add_words(std::vector<Form>& forms) {
  words<2>(forms, "and", [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
  words<2>(forms, "or", [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
  words<2>(forms, "xor", [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
  words<1>(forms, "not", [](auto a) { return static_cast<decltype(a)>(~a); });
  seldom<1, Type::b16, Type::b32, Type::b64>(
      forms, "cnot", [](auto a) { return static_cast<decltype(a)>(a == 0); });
  seldom<1, Type::b32, Type::b64>(forms, "brev", [](auto a) {
    decltype(a) result = 0;
    for (int i = 0; i < kBits<decltype(a)>; ++i) {
      result = static_cast<decltype(a)>(result << 1 | (a >> i & 1));
    }
    return result;
  });
  add_shifts<Type::b16>(forms);
  add_shifts<Type::b32>(forms);
  add_shifts<Type::b64>(forms);
  add_shifts<Type::u16>(forms);
  add_shifts<Type::u32>(forms);
  add_shifts<Type::u64>(forms);
  add_shifts<Type::s16>(forms);
  add_shifts<Type::s32>(forms);
  add_shifts<Type::s64>(forms);
  add_fields<Type::u32>(forms);
  add_fields<Type::u64>(forms);
  add_fields<Type::s32>(forms);
  add_fields<Type::s64>(forms);
  add_insert<Type::b32>(forms);
  add_insert<Type::b64>(forms);
  add_counts<Type::b32>(forms);
  add_counts<Type::b64>(forms);
  add_counts<Type::u32>(forms);
  add_counts<Type::u64>(forms);
  add_counts<Type::s32>(forms);
  add_counts<Type::s64>(forms);

  // The upper or lower word of two that are shifted as one.
  using U32 = std::uint32_t;
  const auto left = [](U32 a, U32 b, U32 c) {
    return static_cast<U32>((std::uint64_t{b} << 32 | a) << (c & 31) >> 32);
  };
  const auto left_clamp = [](U32 a, U32 b, U32 c) {
    return c >= 32 ? a : static_cast<U32>((std::uint64_t{b} << 32 | a) << c >> 32);
  };
  const auto right = [](U32 a, U32 b, U32 c) {
    return static_cast<U32>((std::uint64_t{b} << 32 | a) >> (c & 31));
  };
  const auto right_clamp = [](U32 a, U32 b, U32 c) {
    return c >= 32 ? b : static_cast<U32>((std::uint64_t{b} << 32 | a) >> c);
  };
  same<3, Type::b32>(forms, "shf.l.wrap", left);
  same<3, Type::b32>(forms, "shf.l.clamp", left_clamp);
  same<3, Type::b32>(forms, "shf.r.wrap", right);
  same<3, Type::b32>(forms, "shf.r.clamp", right_clamp);
  same<3, Type::b32>(forms, "prmt", [](U32 a, U32 b, U32 c) {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    U32 result = 0;
    for (int i = 0; i < 4; ++i) {
      const U32 select = c >> 4 * i & 15;
      U32 byte = static_cast<U32>(bytes >> 8 * (select & 7)) & 255;
      if ((select & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << 8 * i;
    }
    return result;
  });
  forms.push_back({.pattern = "lop3.b32",
                   .to = Type::b32,
                   .from = {Type::b32, Type::b32, Type::b32, Type::b32},
                   .run = &map_lanes<Lookup, U32, U32, U32, U32, U32>});
  add_built(forms, "lop3(.or|.and).b32", &build_lop3_and_test);
}

void add_integers(std::vector<Form>& forms) {
  integers<2>(forms, "add", Add{});
  integers<2>(forms, "sub", Subtract{});
  integers<2>(forms, "mul.lo", Low{});
  integers<2>(forms, "mul.hi", High{});
  integers<3>(forms, "mad.lo", [](auto a, auto b, auto c) { return Add{}(Low{}(a, b), c); });
  seldom_integers<3>(forms, "mad.hi",
                     [](auto a, auto b, auto c) { return Add{}(High{}(a, b), c); });
  add_division<Divide>(forms, "div");
  add_division<Remainder>(forms, "rem");
  integers<2>(forms, "min", Minimum{});
  integers<2>(forms, "max", Maximum{});
  seldom_integers<3>(forms, "sad", [](auto a, auto b, auto c) {
    return Add{}(c, a < b ? Subtract{}(b, a) : Subtract{}(a, b));
  });
  same<1, Type::s16, Type::s32, Type::s64>(forms, "abs", Absolute{});
  same<1, Type::s16, Type::s32, Type::s64>(forms, "neg", Negate{});
  add_wide<Type::s16, Type::s32>(forms);
  add_wide<Type::u16, Type::u32>(forms);
  add_wide<Type::s32, Type::s64>(forms);
  add_wide<Type::u32, Type::u64>(forms);
}

}  // namespace

void add_arithmetic_forms(std::vector<Form>& forms) {
  add_integers(forms);
  add_words(forms);
}

}  // namespace simt::machine
