// Moves: of registers, of parts of them, of addresses between their spaces (PTX ISA 9.7.9).
#include <limits>
#include <utility>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;

// So much does a clock that is read go on: a loop that waits for a microsecond or two is soon through.
constexpr std::uint64_t kClockStep = 32;

__extension__ using Wide = unsigned __int128;

template <class T>
struct Same {
  T operator()(T value) const { return value; }
};

template <class T>
constexpr Execute kCopy = &map_lanes<Same<T>, T, T>;

Execute copy_of(int bytes) {
  switch (bytes) {
    case 2:
      return kCopy<std::uint16_t>;
    case 4:
      return kCopy<std::uint32_t>;
    case 1:
      return kCopy<std::uint8_t>;
    case 16:
      return kCopy<Wide>;
    default:
      return kCopy<std::uint64_t>;
  }
}

void emit_copy(Decoder& decoder, std::uint32_t from, std::uint32_t to, int bytes) {
  Step& step = decoder.emit(copy_of(bytes));
  step.from[0] = from;
  step.to = to;
}

// The part of a wide value at this bit; and a part put there.
template <class Wide, class Narrow>
const Step* take_part(const Step* step, Warp& warp) {
  const Wide* const from = warp.values<const Wide>(step->from[0]);
  Narrow* const to = warp.values<Narrow>(step->to);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) != 0) to[lane] = static_cast<Narrow>(from[lane] >> step->offset);
  }
  return step + 1;
}
template <class Wide, class Narrow>
const Step* put_part(const Step* step, Warp& warp) {
  const Narrow* const from = warp.values<const Narrow>(step->from[0]);
  Wide* const to = warp.values<Wide>(step->to);
  const Wide mask = static_cast<Wide>(Wide{std::numeric_limits<Narrow>::max()} << step->offset);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) == 0) continue;
    to[lane] =
        static_cast<Wide>((to[lane] & ~mask) | static_cast<Wide>(from[lane]) << step->offset);
  }
  return step + 1;
}
Execute part(int wide, int narrow, bool takes) {
  if (wide == 4 && narrow == 2) {
    return takes ? &take_part<std::uint32_t, std::uint16_t>
                 : &put_part<std::uint32_t, std::uint16_t>;
  }
  if (wide == 8 && narrow == 4) {
    return takes ? &take_part<std::uint64_t, std::uint32_t>
                 : &put_part<std::uint64_t, std::uint32_t>;
  }
  if (wide == 8 && narrow == 2) {
    return takes ? &take_part<std::uint64_t, std::uint16_t>
                 : &put_part<std::uint64_t, std::uint16_t>;
  }
  if (wide == 4 && narrow == 1) {
    return takes ? &take_part<std::uint32_t, std::uint8_t> : &put_part<std::uint32_t, std::uint8_t>;
  }
  if (wide == 2 && narrow == 1) {
    return takes ? &take_part<std::uint16_t, std::uint8_t> : &put_part<std::uint16_t, std::uint8_t>;
  }
  if (wide == 16 && narrow == 8) {
    return takes ? &take_part<Wide, std::uint64_t> : &put_part<Wide, std::uint64_t>;
  }
  return nullptr;
}

// mov.b64 {%r1, %r2}, %rd1 and the other way round.
void build_parts(Decoder& decoder, const ptx::Instruction& one, bool takes) {
  const int wide = bytes_of(one.type());
  const std::vector<Operand>& parts = one.operands[takes ? 0 : 1].parts;
  const int narrow = wide / static_cast<int>(parts.size());
  const Execute run = part(wide, narrow, takes);
  if (run == nullptr) decoder.refuse("parts of this size");
  const Type type = narrow == 8   ? Type::b64
                    : narrow == 4 ? Type::b32
                    : narrow == 2 ? Type::b16
                                  : Type::b8;
  const std::uint32_t whole = takes ? decoder.source(one.operands[1], one.type())
                                    : decoder.fresh(wide);  // a part may be the result's register
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t its =
        takes ? decoder.destination(parts[i], type) : decoder.source(parts[i], type);
    Step& step = decoder.emit(run);
    step.from[0] = takes ? whole : its;
    step.to = takes ? its : whole;
    step.offset = static_cast<std::int64_t>(i) * narrow * 8;
    decoder.finish();
  }
  if (!takes) emit_copy(decoder, whole, decoder.destination(one.operands[0], one.type()), wide);
}

// There is no time here. So that what waits for a clock goes on, it counts how often the warp has read it: it only grows, and
// differences say nothing. `from` has the count so far.
template <class T, int shift>
const Step* read_clock(const Step* step, Warp& warp) {
  std::uint64_t& reads = *warp.values<std::uint64_t>(step->from[0]);
  reads += kClockStep;
  T* const to = warp.values<T>(step->to);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) != 0) to[lane] = static_cast<T>(reads >> shift);
  }
  return step + 1;
}
bool is_clock(std::string_view name) {
  return name.starts_with("%clock") || name.starts_with("%globaltimer");
}
void build_clock(Decoder& decoder, const ptx::Instruction& one, std::string_view name) {
  const bool is_wide = bytes_of(one.type()) == 8;
  const std::uint32_t reads = decoder.clock();
  const std::uint32_t to = decoder.destination(one.operands[0], one.type());
  Step& step = decoder.emit(is_wide                 ? &read_clock<std::uint64_t, 0>
                            : name.ends_with("_hi") ? &read_clock<std::uint32_t, 32>
                                                    : &read_clock<std::uint32_t, 0>);
  step.from[0] = reads;
  step.to = to;
  decoder.finish();
}

void build_mov(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  if (const std::string_view special = decoder.special_name(one.operands[1]); is_clock(special)) {
    return build_clock(decoder, one, special);
  }
  if (one.operands[0].kind == Operand::Kind::vector) return build_parts(decoder, one, true);
  if (one.operands[1].kind == Operand::Kind::vector) return build_parts(decoder, one, false);
  const Type type = one.type();
  const std::uint32_t from = decoder.source(one.operands[1], type);
  emit_copy(decoder, from, decoder.destination(one.operands[0], type), bytes_of(type));
  decoder.finish();
}

// cvta[.to].space: between a space's own addresses and generic ones. Global ones are the same.
const Step* move_window(const Step* step, Warp& warp) {
  const std::uint64_t* const from = warp.values<const std::uint64_t>(step->from[0]);
  std::uint64_t* const to = warp.values<std::uint64_t>(step->to);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) != 0)
      to[lane] = from[lane] + static_cast<std::uint64_t>(step->offset);
  }
  return step + 1;
}
void build_cvta(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  const std::uint64_t window =
      one.has("shared") || one.has("shared::cta") || one.has("shared::cluster") ? kSharedWindow
      : one.has("local")                                                        ? kLocalWindow
      : one.has("param") || one.has("param::entry")                             ? kParameterWindow
      : one.has("const")                                                        ? kConstantWindow
                                                                                : 0;
  const std::uint32_t from = decoder.source(one.operands[1], Type::u64);
  Step& step = decoder.emit(&move_window);
  step.from[0] = from;
  step.offset = static_cast<std::int64_t>(one.has("to") ? 0 - window : window);
  const std::uint32_t to = decoder.destination(one.operands[0], Type::u64);
  step.to = to;
}

// isspacep.space p, a
template <class Holds>
const Step* is_in_space(const Step* step, Warp& warp) {
  return compare_lanes<Holds, std::uint64_t>(step, warp);
}
template <std::uint64_t begin>
struct InWindow {
  bool operator()(std::uint64_t address) const { return address - begin < kWindowBytes; }
};
// isspacep.shared: only the block's own part of the window.
const Step* is_in_own_shared(const Step* step, Warp& warp) {
  const std::uint64_t begin = kSharedWindow + warp.block->shared_begin();
  const std::uint64_t* const from = warp.values<const std::uint64_t>(step->from[0]);
  std::uint32_t& to = warp.predicate(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    const bool is_own = from[lane] - begin < kSharedStride;
    to = (to & ~(1u << lane)) | (is_own ? 1u : 0u) << lane;
  });
  return step + 1;
}
struct InGlobal {
  bool operator()(std::uint64_t address) const { return address < kConstantWindow; }
};

}  // namespace

void add_move_forms(std::vector<Form>& forms) {
  const auto built = [&](const char* pattern, void (*build)(Decoder&, const ptx::Instruction&)) {
    add_built(forms, pattern, build);
  };
  built(
      "mov(.b16|.b32|.b64|.b128|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64|.f16|.f16x2|.bf16|.bf16x2)",
      &build_mov);
  built(
      "cvta[.to](.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::entry|.const)."
      "u64",
      &build_cvta);
  const auto within = [&](const char* pattern, Execute run) {
    forms.push_back({.pattern = pattern, .to = Type::pred, .from = {Type::u64}, .run = run});
  };
  within("isspacep.global", &is_in_space<InGlobal>);
  within("isspacep(.shared|.shared::cta)", &is_in_own_shared);
  within("isspacep.shared::cluster", &is_in_space<InWindow<kSharedWindow>>);
  within("isspacep.local", &is_in_space<InWindow<kLocalWindow>>);
  within("isspacep(.param|.param::entry)", &is_in_space<InWindow<kParameterWindow>>);
  within("isspacep.const", &is_in_space<InWindow<kConstantWindow>>);
}

}  // namespace simt::machine
