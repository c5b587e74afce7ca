// Video instructions (PTX ISA 9.7.17): arithmetic on bytes and halves that are picked from registers, and what becomes of
// the result. All of them are one step, which looks at what the instruction says.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/warp.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;
using S64 = std::int64_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum class Operation : std::uint8_t {
  add,
  subtract,
  difference,
  least,
  greatest,
  average,
  shift_left,
  shift_right,
  compare,
  multiply_add
};
enum class Relation : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Second : std::uint8_t { none, add, least, greatest };

// Of a word a part, or all of it: 0 to 3 a byte, 4 and 5 a half.
constexpr std::uint8_t kWhole = 8;

// What an instruction does: in Step::offset.
struct Doing {
  Operation operation = Operation::add;
  Relation relation = Relation::eq;
  Second second = Second::none;
  std::uint8_t signs = 0;  // what is signed, or negated
  bool saturates = false;  // of several parts
  bool wraps = false;      // of a shift: its count
  std::uint8_t parts = 1;  // of each word: 1, 2, 4
  std::uint8_t unused = 0;
};
constexpr std::uint8_t kSignedA = 1, kSignedB = 2, kSignedResult = 4, kNegatedProduct = 8,
                       kNegatedC = 16, kPlusOne = 32;
// And with which parts: in Step::source_offset.
struct Places {
  // Of one part its place. Of several four bits for each: a part of a, or behind these one of b.
  std::uint16_t a = kWhole, b = kWhole;
  std::uint16_t to = kWhole;  // of several a bit for each that is made
  std::uint16_t unused = 0;
};
static_assert(sizeof(Doing) == 8 && sizeof(Places) == 8);

int bits_of(unsigned place) { return place == kWhole ? 32 : place >= 4 ? 16 : 8; }
int shift_of(unsigned place) {
  return place == kWhole ? 0 : static_cast<int>(place >= 4 ? (place - 4) * 16 : place * 8);
}
S64 number(U64 words, int shift, int bits, bool is_signed) {
  const U64 top = words >> shift << (64 - bits);
  return is_signed ? static_cast<S64>(top) >> (64 - bits) : static_cast<S64>(top >> (64 - bits));
}
S64 limited(S64 value, int bits, bool is_signed) {
  const S64 beyond = S64{1} << (is_signed ? bits - 1 : bits);
  return std::clamp(value, is_signed ? -beyond : S64{0}, beyond - 1);
}

bool holds(Relation relation, S64 a, S64 b) {
  switch (relation) {
    case Relation::eq:
      return a == b;
    case Relation::ne:
      return a != b;
    case Relation::lt:
      return a < b;
    case Relation::le:
      return a <= b;
    case Relation::gt:
      return a > b;
    default:
      return a >= b;
  }
}

S64 made(const Doing& its, S64 a, S64 b) {
  switch (its.operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::difference:
      return std::max(a, b) - std::min(a, b);
    case Operation::least:
      return std::min(a, b);
    case Operation::greatest:
      return std::max(a, b);
    case Operation::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::compare:
      return holds(its.relation, a, b) ? 1 : 0;
    default: {
      const auto count = static_cast<U32>(b);
      const int by =
          its.wraps ? static_cast<int>(count & 31) : static_cast<int>(std::min<U32>(count, 32));
      return its.operation == Operation::shift_left ? static_cast<S64>(static_cast<U64>(a) << by)
                                                    : a >> by;
    }
  }
}

U32 multiply_add(const Doing& its, S64 a, S64 b, U32 c) {
  const bool is_signed = (its.signs & (kSignedA | kSignedB | kNegatedProduct | kNegatedC)) != 0;
  __extension__ using Wide = __int128;
  Wide sum = static_cast<Wide>(a) * b;
  if ((its.signs & kNegatedProduct) != 0) sum = -sum;
  const S64 addend = number(c, 0, 32, is_signed);
  sum += (its.signs & kNegatedC) != 0 ? -addend : addend;
  if ((its.signs & kPlusOne) != 0) sum += 1;
  return static_cast<U32>(sum);
}

S64 second(const Doing& its, S64 value, U32 c) {
  const S64 other = number(c, 0, 32, (its.signs & kSignedResult) != 0);
  switch (its.second) {
    case Second::add:
      return value + other;
    case Second::least:
      return std::min(value, other);
    case Second::greatest:
      return std::max(value, other);
    default:
      return value;
  }
}

U32 of_word(const Doing& its, const Places& places, U32 a, U32 b, U32 c) {
  const S64 left = number(a, shift_of(places.a), bits_of(places.a), (its.signs & kSignedA) != 0);
  const S64 right = number(b, shift_of(places.b), bits_of(places.b), (its.signs & kSignedB) != 0);
  if (its.operation == Operation::multiply_add) return multiply_add(its, left, right, c);
  S64 value = made(its, left, right);
  if (its.operation == Operation::add || its.operation == Operation::subtract) {
    value = number(static_cast<U32>(value), 0, 32, (its.signs & kSignedResult) != 0);
  }
  const auto result = static_cast<U32>(second(its, value, c));
  const int bits = bits_of(places.to);
  if (bits == 32) return result;
  const int shift = shift_of(places.to);
  const U32 mask = ((1u << bits) - 1) << shift;
  return (result << shift & mask) | (c & ~mask);
}

U32 of_parts(const Doing& its, const Places& places, U32 a, U32 b, U32 c) {
  const int bits = 32 / its.parts;
  const U64 words = U64{b} << 32 | a;
  U32 result = c;
  for (int i = 0; i < its.parts; ++i) {
    if ((places.to >> i & 1) == 0) continue;
    const auto part = [&](std::uint16_t chosen, std::uint8_t sign) {
      return number(words, (chosen >> 4 * i & 15) * bits, bits, (its.signs & sign) != 0);
    };
    S64 value = made(its, part(places.a, kSignedA), part(places.b, kSignedB));
    if (its.saturates) value = limited(value, bits, (its.signs & kSignedResult) != 0);
    if (its.second == Second::add) {
      result += static_cast<U32>(value);
      continue;
    }
    const U32 mask = ((1u << bits) - 1) << i * bits;
    result = (static_cast<U32>(value) << i * bits & mask) | (result & ~mask);
  }
  return result;
}

const Step* compute(const Step* step, Warp& warp) {
  const auto its = std::bit_cast<Doing>(step->offset);
  const auto places = std::bit_cast<Places>(step->source_offset);
  const U32* const a = warp.values<const U32>(step->from[0]);
  const U32* const b = warp.values<const U32>(step->from[1]);
  const U32* const c = warp.values<const U32>(step->from[2]);
  U32* const to = warp.values<U32>(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    to[lane] = its.parts == 1 ? of_word(its, places, a[lane], b[lane], c[lane])
                              : of_parts(its, places, a[lane], b[lane], c[lane]);
  });
  return step + 1;
}

// ---- How it is written: vadd.s32.u32.s32.sat d.h1, a.b0, -b, c; vadd4.u32.u32.u32.add d.b10, a.b3210, b.b7654, c. ----

constexpr std::pair<std::string_view, Operation> kOperations[] = {
    {"vadd", Operation::add},
    {"vsub", Operation::subtract},
    {"vabsdiff", Operation::difference},
    {"vmin", Operation::least},
    {"vmax", Operation::greatest},
    {"vavrg", Operation::average},
    {"vshl", Operation::shift_left},
    {"vshr", Operation::shift_right},
    {"vset", Operation::compare},
    {"vmad", Operation::multiply_add}};
constexpr std::pair<std::string_view, Relation> kRelations[] = {
    {"eq", Relation::eq}, {"ne", Relation::ne}, {"lt", Relation::lt},
    {"le", Relation::le}, {"gt", Relation::gt}, {"ge", Relation::ge}};

// "b2", "h0", or nothing: all of the word.
std::uint16_t place_named(const Decoder& decoder, std::string_view name) {
  if (name.empty()) return kWhole;
  const unsigned number = name.size() == 2 ? static_cast<unsigned>(name[1] - '0') : 9;
  if (name[0] == 'b' && number < 4) return static_cast<std::uint16_t>(number);
  if (name[0] == 'h' && number < 2) return static_cast<std::uint16_t>(4 + number);
  decoder.refuse("a part of a register that is not known here");
}
// "b7120": the parts of a and b, the last one first; or nothing: as they stand in the word.
std::uint16_t parts_named(const Decoder& decoder, std::string_view name, int parts, int first) {
  unsigned all = 0;
  for (int i = 0; i < parts; ++i) {
    const auto at = static_cast<std::size_t>(parts - i);
    const unsigned part = name.empty()       ? static_cast<unsigned>(first + i)
                          : at < name.size() ? static_cast<unsigned>(name[at] - '0')
                                             : 16;
    if (part >= static_cast<unsigned>(2 * parts)) {
      decoder.refuse("a part of a register that is not known here");
    }
    all |= part << 4 * i;
  }
  return static_cast<std::uint16_t>(all);
}
// "b20": a bit for each; or nothing: all.
std::uint16_t mask_named(std::string_view name, int parts) {
  if (name.empty()) return static_cast<std::uint16_t>((1u << parts) - 1);
  unsigned mask = 0;
  for (const char part : name.substr(1)) mask |= 1u << (part - '0');
  return static_cast<std::uint16_t>(mask);
}

void build_video(Decoder& decoder, const ptx::Instruction& one) {
  const std::vector<Operand>& all = one.operands;
  if (all.size() < 3 || all.size() > 4) {
    decoder.refuse("another number of operands than known here");
  }
  Doing its;
  std::string_view name = one.opcode;
  if (name.ends_with('2') || name.ends_with('4')) {
    its.parts = static_cast<std::uint8_t>(name.back() - '0');
    name.remove_suffix(1);
  }
  for (const auto& [word, operation] : kOperations) {
    if (name == word) its.operation = operation;
  }
  for (const auto& [word, relation] : kRelations) {
    if (one.has(word)) its.relation = relation;
  }
  std::vector<bool> are_signed;
  for (const std::string_view word : one.modifiers) {
    if (word == "u32" || word == "s32") are_signed.push_back(word == "s32");
  }
  // vset has no type of its result: it is 0 or 1, and c as the operands are.
  const bool has_result_type = are_signed.size() == 3;
  const std::size_t first = has_result_type ? 1 : 0;
  if (are_signed[first]) its.signs |= kSignedA;
  if (are_signed[first + 1]) its.signs |= kSignedB;
  if (has_result_type ? are_signed[0] : are_signed[0] || are_signed[1]) its.signs |= kSignedResult;
  if (all[1].negated != all[2].negated) its.signs |= kNegatedProduct;
  if (all.size() > 3 && all[3].negated) its.signs |= kNegatedC;
  if (one.has("po")) its.signs |= kPlusOne;
  its.saturates = one.has("sat");
  its.wraps = one.has("wrap");
  its.second = one.has("add")   ? Second::add
               : one.has("min") ? Second::least
               : one.has("max") ? Second::greatest
                                : Second::none;
  Places places;
  if (its.parts == 1) {
    places = {place_named(decoder, all[1].name), place_named(decoder, all[2].name),
              place_named(decoder, all[0].name)};
    if (places.to == 5) decoder.refuse("a result in the upper half of a register");
  } else {
    places = {parts_named(decoder, all[1].name, its.parts, 0),
              parts_named(decoder, all[2].name, its.parts, its.parts),
              mask_named(all[0].name, its.parts)};
  }
  const auto whole = [](Operand operand) {
    if (operand.kind == Operand::Kind::reg) operand.name = {};
    return operand;
  };
  U32 from[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    from[i] =
        i + 1 < all.size() ? decoder.source(whole(all[i + 1]), Type::u32) : decoder.constant(0, 4);
  }
  const U32 to = decoder.destination(whole(all[0]), Type::u32);
  Step& step = decoder.emit(&compute);
  std::copy(std::begin(from), std::end(from), std::begin(step.from));
  step.to = to;
  step.offset = std::bit_cast<S64>(its);
  step.source_offset = std::bit_cast<S64>(places);
  decoder.finish();
}

}  // namespace

void add_video_forms(std::vector<Form>& forms) {
  const std::string type = "(.u32|.s32)", types = type + type + type;
  const std::string second = "[.add|.min|.max]", relation = "(.eq|.ne|.lt|.le|.gt|.ge)";
  // Of single parts an H200 makes something else than the manual says with .sat, with a shifted sum, and of a result for the
  // upper half of a register: these are refused.
  for (const std::string name : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    add_built(forms, name + types + second, &build_video);
  }
  for (const std::string name : {"vshl", "vshr"}) {
    add_built(forms, name + types + "(.clamp|.wrap)" + second, &build_video);
  }
  add_built(forms, "vset" + type + type + relation + second, &build_video);
  add_built(forms, "vmad" + types + "[.po]", &build_video);
  for (const std::string parts : {"2", "4"}) {
    for (const std::string name : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
      add_built(forms, name + parts + types + "[.sat|.add]", &build_video);
    }
    add_built(forms, "vset" + parts + type + type + relation + "[.add]", &build_video);
  }
}

}  // namespace simt::machine
