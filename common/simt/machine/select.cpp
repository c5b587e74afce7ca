// Comparisons, selection, and what is done with predicates (PTX ISA 9.7.6 and 9.7.8).
#include <cmath>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/half.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;

// Which of the four relations of two numbers a comparison accepts.
enum Relation { kEqual = 1, kLess = 2, kGreater = 4, kUnordered = 8 };

template <int holds>
struct Compare {
  template <class T>
  bool operator()(T a, T b) const {
    bool result = false;
    if constexpr ((holds & kEqual) != 0) result |= a == b;
    if constexpr ((holds & kLess) != 0) result |= a < b;
    if constexpr ((holds & kGreater) != 0) result |= a > b;
    if constexpr ((holds & kUnordered) != 0 && std::is_floating_point_v<T>) {
      result |= std::isunordered(a, b);
    }
    return result;
  }
};

template <class Comparison>
struct FlushedComparison {
  bool operator()(float a, float b) const { return Comparison{}(Flush{}(a), Flush{}(b)); }
};

template <int holds>
Execute comparison_of_numbers(Type type, bool flushes) {
  using Its = Compare<holds>;
  if (type == Type::f64) return &compare_seldom<Its, double, double>;
  return flushes ? &compare_seldom<FlushedComparison<Its>, float, float>
                 : &compare_lanes<Its, float, float>;
}

template <int holds>
Execute comparison_of(Type type, bool flushes) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return &compare_seldom<Compare<holds>, std::uint16_t, std::uint16_t>;
    case Type::b32:
    case Type::u32:
      return &compare_lanes<Compare<holds>, std::uint32_t, std::uint32_t>;
    case Type::b64:
    case Type::u64:
      return &compare_lanes<Compare<holds>, std::uint64_t, std::uint64_t>;
    case Type::s16:
      return &compare_seldom<Compare<holds>, std::int16_t, std::int16_t>;
    case Type::s32:
      return &compare_lanes<Compare<holds>, std::int32_t, std::int32_t>;
    case Type::s64:
      return &compare_lanes<Compare<holds>, std::int64_t, std::int64_t>;
    default:
      return comparison_of_numbers<holds>(type, flushes);
  }
}

// Of floating-point numbers a comparison is false where there is a NaN, one with u, which only they have, is true.
Execute comparison(std::string_view name, Type type, bool flushes) {
  if (name == "eq") return comparison_of<kEqual>(type, flushes);
  if (name == "ne") return comparison_of<kLess | kGreater>(type, flushes);
  if (name == "lt" || name == "lo") return comparison_of<kLess>(type, flushes);
  if (name == "le" || name == "ls") return comparison_of<kLess | kEqual>(type, flushes);
  if (name == "gt" || name == "hi") return comparison_of<kGreater>(type, flushes);
  if (name == "ge" || name == "hs") return comparison_of<kGreater | kEqual>(type, flushes);
  if (name == "equ") return comparison_of_numbers<kEqual | kUnordered>(type, flushes);
  if (name == "neu") return comparison_of_numbers<kLess | kGreater | kUnordered>(type, flushes);
  if (name == "ltu") return comparison_of_numbers<kLess | kUnordered>(type, flushes);
  if (name == "leu") return comparison_of_numbers<kLess | kEqual | kUnordered>(type, flushes);
  if (name == "gtu") return comparison_of_numbers<kGreater | kUnordered>(type, flushes);
  if (name == "geu") return comparison_of_numbers<kGreater | kEqual | kUnordered>(type, flushes);
  if (name == "num") return comparison_of_numbers<kEqual | kLess | kGreater>(type, flushes);
  return comparison_of_numbers<kUnordered>(type, flushes);  // nan
}

// On bits, a lane each.
template <class Operation>
const Step* predicates(const Step* step, Warp& warp) {
  const std::uint32_t result =
      Operation{}(warp.predicate(step->from[0]), warp.predicate(step->from[1]));
  std::uint32_t& to = warp.predicate(step->to);
  to = (to & ~warp.active) | (result & warp.active);
  return step + 1;
}
struct And {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a & b; }
};
struct Or {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a | b; }
};
struct Xor {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a ^ b; }
};
struct Not {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t) const { return ~a; }
};
struct Copy {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t) const { return a; }
};

std::uint32_t emit_predicate(Decoder& decoder, Execute run, std::uint32_t a, std::uint32_t b,
                             std::uint32_t to) {
  Step& step = decoder.emit(run);
  step.flow = run == &predicates<And>  ? Flow::conjoins
              : run == &predicates<Or> ? Flow::disjoins
                                       : Flow::computes;
  step.from[0] = a;
  step.from[1] = b;
  step.to = to;
  return to;
}
// A predicate, turned round where the text says !.
std::uint32_t predicate(Decoder& decoder, const Operand& operand) {
  const std::uint32_t slot = decoder.source(operand, Type::pred);
  return operand.negated ? emit_predicate(decoder, &predicates<Not>, slot, slot, decoder.fresh(0))
                         : slot;
}

// ---- Comparisons of two operands: f16 and bf16 as f32. ----

template <Format format, int shift>
struct WidenPart {
  float operator()(std::uint32_t word) const { return widen<format>(word >> shift & 0xffff); }
};
template <Format format>
struct FlushHalf {
  std::uint16_t operator()(std::uint16_t bits) const {
    return static_cast<std::uint16_t>((bits & format.infinity()) == 0 ? bits & format.sign()
                                                                      : bits);
  }
};

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

std::uint32_t emit_unary(Decoder& decoder, Execute run, std::uint32_t from, int bytes) {
  const std::uint32_t made = decoder.fresh(bytes);
  Step& step = decoder.emit(run);
  step.from[0] = from;
  step.to = made;
  return made;
}

// Emits a comparison as the instruction names it, of the operands or of their upper halves; its predicate goes to `to`.
void emit_comparison(Decoder& decoder, const ptx::Instruction& one, bool upper, std::uint32_t to) {
  Type type = one.type();
  const bool flushes = one.has("ftz");
  std::uint32_t slots[2];
  for (std::size_t i = 0; i < 2; ++i) {
    slots[i] = decoder.source(one.operands[i + 1], type);
    if (is_pair(type)) {
      const Execute low = type == Type::f16x2
                              ? &map_seldom<WidenPart<kF16, 0>, float, std::uint32_t>
                              : &map_seldom<WidenPart<kBf16, 0>, float, std::uint32_t>;
      const Execute high = type == Type::f16x2
                               ? &map_seldom<WidenPart<kF16, 16>, float, std::uint32_t>
                               : &map_seldom<WidenPart<kBf16, 16>, float, std::uint32_t>;
      slots[i] = emit_unary(decoder, upper ? high : low, slots[i], 4);
    } else if (type == Type::f16 || type == Type::bf16) {
      if (flushes && type == Type::f16) {
        slots[i] = emit_unary(decoder, &map_seldom<FlushHalf<kF16>, std::uint16_t, std::uint16_t>,
                              slots[i], 2);
      }
      slots[i] = emit_unary(decoder, widening(type), slots[i], 4);
    }
    if (flushes && type == Type::f16x2) {
      // The least normal f16, as f32.
      const auto flush = [](float value) {
        return std::abs(value) < 0x1p-14f ? std::copysign(0.0f, value) : value;
      };
      slots[i] = emit_unary(decoder, &map_seldom<decltype(flush), float, float>, slots[i], 4);
    }
  }
  if (is_pair(type) || type == Type::f16 || type == Type::bf16) type = Type::f32;
  Step& step = decoder.emit(comparison(one.modifiers[0], type, flushes));
  step.from[0] = slots[0];
  step.from[1] = slots[1];
  step.to = to;
}

// What a comparison is combined with: .and, .or, .xor and an operand behind the two.
struct Combination {
  Execute run = &predicates<Copy>;
  std::uint32_t with = 0;
  bool is_there = false;

  Combination(Decoder& decoder, const ptx::Instruction& one) {
    if (one.operands.size() == 3) return;
    if (one.operands.size() != 4) decoder.refuse("another number of operands than known here");
    is_there = true;
    with = predicate(decoder, one.operands[3]);
    run = one.has("and") ? &predicates<And> : one.has("or") ? &predicates<Or> : &predicates<Xor>;
  }
  void emit(Decoder& decoder, std::uint32_t compared, std::uint32_t to) const {
    emit_predicate(decoder, run, compared, is_there ? with : compared, to);
  }
};

// setp.cmp[.bool].type p[|q], a, b[, c]: p = (a cmp b) bool c, q = !(a cmp b) bool c. Of two halves p is the lower one's, q the
// upper one's.
void build_setp(Decoder& decoder, const ptx::Instruction& one) {
  const Combination combination(decoder, one);
  const Operand& to = one.operands[0];
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint32_t first = decoder.destination(two ? to.parts[0] : to, Type::pred);
  if (!two && !combination.is_there) return emit_comparison(decoder, one, false, first);
  const std::uint32_t compared = decoder.fresh(0);
  emit_comparison(decoder, one, false, compared);
  if (!two) return combination.emit(decoder, compared, first);
  const std::uint32_t second = decoder.destination(to.parts[1], Type::pred);
  const std::uint32_t other = decoder.fresh(0);
  if (is_pair(one.type())) {
    emit_comparison(decoder, one, true, other);
  } else {
    emit_predicate(decoder, &predicates<Not>, compared, compared, other);
  }
  // The second first, and not to its place: what is combined with may be either's register.
  const std::uint32_t its = decoder.fresh(0);
  combination.emit(decoder, other, its);
  combination.emit(decoder, compared, first);
  emit_predicate(decoder, &predicates<Copy>, its, its, second);
}

template <class Operation>
void build_predicates(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t a = predicate(decoder, one.operands.at(1));
  const std::uint32_t b = one.operands.size() > 2 ? predicate(decoder, one.operands[2]) : a;
  emit_predicate(decoder, &predicates<Operation>, a, b,
                 decoder.destination(one.operands.at(0), Type::pred));
}

// selp.type d, a, b, p
template <class T>
const Step* select(const Step* step, Warp& warp) {
  const std::uint32_t chosen = warp.predicate(step->from[2]);
  const T* const a = warp.values<const T>(step->from[0]);
  const T* const b = warp.values<const T>(step->from[1]);
  T* const to = warp.values<T>(step->to);
  for (int lane = 0; lane < kLanes; ++lane) {
    const T value = (chosen >> lane & 1) != 0 ? a[lane] : b[lane];
    to[lane] = (warp.active >> lane & 1) != 0 ? value : to[lane];
  }
  return step + 1;
}

void build_selp(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 4) decoder.refuse("another number of operands than known here");
  const Type type = one.type();
  const std::uint32_t a = decoder.source(one.operands[1], type);
  const std::uint32_t b = decoder.source(one.operands[2], type);
  const std::uint32_t chosen = predicate(decoder, one.operands[3]);
  const std::uint32_t to = decoder.destination(one.operands[0], type);
  Step& step = decoder.emit(bytes_of(type) == 2   ? &select<std::uint16_t>
                            : bytes_of(type) == 4 ? &select<std::uint32_t>
                                                  : &select<std::uint64_t>);
  step.flow = Flow::selects;
  step.from[0] = a;
  step.from[1] = b;
  step.from[2] = chosen;
  step.to = to;
  decoder.finish();
}

void emit_select(Decoder& decoder, std::uint64_t yes, std::uint32_t chosen, std::uint32_t to,
                 int bytes) {
  const std::uint32_t a = decoder.constant(yes, bytes), b = decoder.constant(0, bytes);
  Step& step = decoder.emit(bytes == 2 ? &select<std::uint16_t> : &select<std::uint32_t>);
  step.flow = Flow::selects;
  step.from[0] = a;
  step.from[1] = b;
  step.from[2] = chosen;
  step.to = to;
}

// set.cmp[.bool].to.type d, a, b[, c]: all ones where it holds, or 1.0.
void build_set(Decoder& decoder, const ptx::Instruction& one) {
  const Combination combination(decoder, one);
  const Type to = ptx::type_of(one.modifiers[one.modifiers.size() - 2]);
  const auto compared = [&](bool upper) {
    const std::uint32_t raw = decoder.fresh(0), its = decoder.fresh(0);
    emit_comparison(decoder, one, upper, raw);
    combination.emit(decoder, raw, its);
    return its;
  };
  const std::uint64_t yes = to == Type::f32                            ? 0x3f80'0000
                            : to == Type::f16 || to == Type::f16x2     ? 0x3c00
                            : to == Type::bf16 || to == Type::bf16x2   ? 0x3f80
                            : bytes_of(to) == 2 || is_pair(one.type()) ? 0xffff
                                                                       : 0xffff'ffff;
  const std::uint32_t low = compared(false);
  if (!is_pair(one.type())) {
    emit_select(decoder, yes, low, decoder.destination(one.operands[0], to), bytes_of(to));
    return decoder.finish();
  }
  const std::uint32_t high = compared(true);
  const std::uint32_t halves[2] = {decoder.fresh(4), decoder.fresh(4)};
  emit_select(decoder, yes, low, halves[0], 4);
  emit_select(decoder, yes << 16, high, halves[1], 4);
  const std::uint32_t result = decoder.destination(one.operands[0], Type::b32);
  const auto both = [](std::uint32_t a, std::uint32_t b) { return a | b; };
  Step& step =
      decoder.emit(&map_lanes<decltype(both), std::uint32_t, std::uint32_t, std::uint32_t>);
  step.from[0] = halves[0];
  step.from[1] = halves[1];
  step.to = result;
  decoder.finish();
}

// slct.type.s32 d, a, b, c: a where c is not negative. Of f32 a NaN is as a negative number.
template <class T, class By>
struct SelectBy {
  T operator()(T a, T b, By c) const { return c >= 0 ? a : b; }
};
template <class T>
struct SelectByFlushed {
  T operator()(T a, T b, float c) const { return Flush{}(c) >= 0 ? a : b; }
};
template <class T>
void add_select_by(std::vector<Form>& forms, Type type, const std::string& types) {
  using S32 = std::int32_t;
  forms.push_back({.pattern = "slct" + types + ".s32",
                   .to = type,
                   .from = {type, type, Type::s32},
                   .run = &map_seldom<SelectBy<T, S32>, T, T, T, S32>});
  forms.push_back({.pattern = "slct" + types + ".f32",
                   .to = type,
                   .from = {type, type, Type::f32},
                   .run = &map_seldom<SelectBy<T, float>, T, T, T, float>});
  forms.push_back({.pattern = "slct.ftz" + types + ".f32",
                   .to = type,
                   .from = {type, type, Type::f32},
                   .run = &map_seldom<SelectByFlushed<T>, T, T, T, float>});
}

}  // namespace

void add_selection_forms(std::vector<Form>& forms) {
  const auto built = [&](const std::string& pattern,
                         void (*build)(Decoder&, const ptx::Instruction&)) {
    add_built(forms, pattern, build);
  };
  built("setp(.eq|.ne)[.and|.or|.xor](.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64)", &build_setp);
  built("setp(.lt|.le|.gt|.ge)[.and|.or|.xor](.u16|.u32|.u64|.s16|.s32|.s64)", &build_setp);
  built("setp(.lo|.ls|.hi|.hs)[.and|.or|.xor](.u16|.u32|.u64)", &build_setp);
  const std::string relations =
      "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)[.and|.or|.xor]";
  built("setp" + relations + "[.ftz](.f32|.f16|.f16x2)", &build_setp);
  built("setp" + relations + "(.f64|.bf16|.bf16x2)", &build_setp);
  const std::string to_word = "(.u32|.s32|.f32)";
  built("set(.eq|.ne)[.and|.or|.xor]" + to_word + "(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64)",
        &build_set);
  built("set(.lt|.le|.gt|.ge)[.and|.or|.xor]" + to_word + "(.u16|.u32|.u64|.s16|.s32|.s64)",
        &build_set);
  built("set(.lo|.ls|.hi|.hs)[.and|.or|.xor]" + to_word + "(.u16|.u32|.u64)", &build_set);
  built("set" + relations + "[.ftz]" + to_word + "(.f32|.f64)", &build_set);
  built("set" + relations + "[.ftz](.u16|.s16|.u32|.s32)(.f16|.bf16|.f16x2|.bf16x2)", &build_set);
  built("set" + relations + "[.ftz](.f16)(.f16)", &build_set);
  built("set" + relations + "(.bf16)(.bf16)", &build_set);
  built("set" + relations + "[.ftz](.f16x2)(.f16x2)", &build_set);
  built("set" + relations + "(.bf16x2)(.bf16x2)", &build_set);
  add_select_by<std::uint16_t>(forms, Type::b16, "(.b16|.u16|.s16)");
  add_select_by<std::uint32_t>(forms, Type::b32, "(.b32|.u32|.s32|.f32)");
  add_select_by<std::uint64_t>(forms, Type::b64, "(.b64|.u64|.s64|.f64)");
  built("selp(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64|.f16|.bf16|.f16x2|.bf16x2)",
        &build_selp);
  built("and.pred", &build_predicates<And>);
  built("or.pred", &build_predicates<Or>);
  built("xor.pred", &build_predicates<Xor>);
  built("not.pred", &build_predicates<Not>);
  built("mov.pred", &build_predicates<Copy>);
}

}  // namespace simt::machine
