// Branches, calls and ends (PTX ISA 9.7.12).
#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;

const Step* jump(const Step* step, Warp& warp) { return warp.jump(step, step->target); }

const Step* branch(const Step* step, Warp& warp) {
  const std::uint32_t guard = warp.predicate(step->guard);
  const std::uint32_t takers = warp.active & (step->guard_negated ? ~guard : guard);
  if (takers == 0) return step + 1;
  if (takers == warp.active) return warp.jump(step, step->target);
  // A jump that the layout adds there would come when its turn does, which may be behind all that the others do. (One of the
  // PTX's own has a site of its own.)
  const bool is_added = step[1].run == &jump && step[1].site == step->site;
  const Step* const next = is_added ? step[1].target : step + 1;
  return warp.split(step->target, takers, next);
}

const Step* end(const Step*, Warp& warp) { return warp.end(); }

// ---- Loops that ptxas unrolls (unroll.hpp): `from` names the counter and the bound, and of each lane how many rounds are
// left, of the loop and of those that are taken together. Behind the jump back stand the steps at which lanes with fewer
// rounds wait; so they come when nobody is in the loop. ----

constexpr int kCounter = 0, kBound = 1, kRemaining = 2, kTogether = 3;
constexpr std::int32_t kMany = 4, kFew = 2;
constexpr std::int32_t kAll = std::numeric_limits<std::int32_t>::max();  // of lanes that never part

struct Way {
  const Step* to;
  std::uint32_t lanes;
};
// The active lanes part.
const Step* go(Warp& warp, std::initializer_list<Way> ways) {
  for (const Way& one : ways) {
    if (one.lanes == warp.active) return one.to;
  }
  for (const Way& one : ways) {
    if (one.lanes != 0) warp.others.push_back({one.to, one.lanes});
  }
  return warp.choose();
}

// Who comes to the loop. Lanes with as many rounds as all others take them as if it were not unrolled.
template <class Count>
const Step* enter_loop(const Step* step, Warp& warp) {
  const auto* const counter = warp.values<const Count>(step->from[kCounter]);
  const auto* const bound = warp.values<const Count>(step->from[kBound]);
  auto* const left = warp.values<std::int32_t>(step->from[kRemaining]);
  auto* const together = warp.values<std::int32_t>(step->from[kTogether]);
  const std::int64_t by = step->source_offset < 0 ? -step->source_offset : step->source_offset;
  std::int64_t least = kAll, most = 1;
  each_lane(warp.active, [&](std::size_t lane) {
    // As many as an array may have: it does not overflow.
    const auto ahead = static_cast<std::int64_t>(static_cast<std::uint64_t>(bound[lane]) -
                                                 static_cast<std::uint64_t>(counter[lane]));
    const std::int64_t distance = step->source_offset < 0 ? -ahead : ahead;
    const std::int64_t rounds =
        std::clamp<std::int64_t>(distance / by + (distance % by != 0 ? 1 : 0), 1, kAll);
    left[lane] = static_cast<std::int32_t>(rounds);
    least = std::min(least, rounds);
    most = std::max(most, rounds);
  });
  if (least == most) {
    each_lane(warp.active, [&](std::size_t lane) { together[lane] = kAll; });
    return step + 1;
  }
  std::uint32_t many = 0, few = 0;
  each_lane(warp.active, [&](std::size_t lane) {
    together[lane] = kMany;
    many |= (left[lane] >= kMany ? 1u : 0u) << lane;
    few |= (left[lane] >= kFew ? 1u : 0u) << lane;
  });
  few &= ~many;
  return go(
      warp,
      {{step + 1, many}, {step->target, few}, {step->target + 1, warp.active & ~many & ~few}});
}

// The jump back.
const Step* next_round(const Step* step, Warp& warp) {
  auto* const left = warp.values<std::int32_t>(step->from[kRemaining]);
  auto* const together = warp.values<std::int32_t>(step->from[kTogether]);
  const std::uint32_t takers = warp.active & warp.predicate(step->guard);
  if (together[std::countr_zero(warp.active)] == kAll) {
    if (takers == 0) return step + 3;
    if (takers == warp.active) return warp.jump(step, step->target);
    return warp.split(step->target, takers, step + 3);
  }
  std::uint32_t back = 0, few = 0;
  each_lane(takers, [&](std::size_t lane) {
    --left[lane];
    --together[lane];
    if (together[lane] <= 0 && left[lane] >= kMany) together[lane] = kMany;
    back |= (together[lane] > 0 ? 1u : 0u) << lane;
    few |= (left[lane] >= kFew ? 1u : 0u) << lane;
  });
  if (back == warp.active) return warp.jump(step, step->target);
  few &= ~back;
  return go(warp, {{step->target, back},
                   {step + 1, few},
                   {step + 2, takers & ~back & ~few},
                   {step + 3, warp.active & ~takers}});
}

// So many rounds together.
const Step* take_rounds(const Step* step, Warp& warp) {
  auto* const together = warp.values<std::int32_t>(step->from[kTogether]);
  each_lane(warp.active, [&](std::size_t lane) { together[lane] = step->count; });
  return warp.jump(step, step->target);
}

void build_branch(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 1 || one.operands[0].kind != Operand::Kind::label) {
    decoder.refuse("a jump to no label");
  }
  if (one.guard < 0) {
    decoder.emit_jump(&jump, one.operands[0].index);
    return;
  }
  const std::uint32_t guard = decoder.slot_of(one.guard);
  Step& step = decoder.emit_jump(&branch, one.operands[0].index);
  step.guard = guard;
  step.guard_negated = one.guard_negated;
}

// brx.idx index, targets: a jump for each target, for the lanes that have its number. An index beyond is undefined: it
// goes to the last.
void build_indexed_branch(Decoder& decoder, const ptx::Instruction& one) {
  if (one.guard >= 0) decoder.refuse("a jump by an index under a predicate");
  if (one.operands.size() != 2 || one.operands[1].kind != Operand::Kind::symbol) {
    decoder.refuse("a jump to no list of labels");
  }
  const std::vector<std::int32_t>& targets = decoder.targets(one.operands[1].name);
  const std::uint32_t index = decoder.source(one.operands[0], ptx::Type::u32);
  const auto equal = [](std::uint32_t a, std::uint32_t b) { return a == b; };
  for (std::size_t i = 0; i + 1 < targets.size(); ++i) {
    const std::uint32_t number = decoder.constant(i, 4), is_its = decoder.fresh(0);
    Step& compare = decoder.emit(&compare_lanes<decltype(equal), std::uint32_t, std::uint32_t>);
    compare.from[0] = index;
    compare.from[1] = number;
    compare.to = is_its;
    decoder.emit_jump(&branch, targets[i]).guard = is_its;
  }
  decoder.emit_jump(&jump, targets.back());
}

// In a function that stands in place of its call: a jump behind it.
void build_return(Decoder& decoder, const ptx::Instruction& one) {
  if (decoder.is_outermost()) {
    Step& step = decoder.emit(decoder.is_called() ? leave_called() : &end);
    if (one.guard >= 0) guard_apart(step, decoder.slot_of(one.guard), one.guard_negated);
    return;
  }
  const std::uint32_t guard = one.guard >= 0 ? decoder.slot_of(one.guard) : 0;
  decoder.leave_function();
  Step& step = decoder.emit(one.guard >= 0 ? &branch : &jump);
  step.guard = guard;
  step.guard_negated = one.guard_negated;
}

void build_exit(Decoder& decoder, const ptx::Instruction&) { decoder.emit(&end); }

void build_call(Decoder& decoder, const ptx::Instruction& one) {
  if (one.guard >= 0) decoder.refuse("a call under a predicate");
  decoder.call(one);
}

// All launches before its own have ended.
const Step* wait_for_launches(const Step* step, Warp& warp) {
  warp.block->grid->observer->launches_waited(warp);
  return step + 1;
}
const Step* let_next_launch_begin(const Step* step, Warp& warp) {
  warp.block->grid->observer->next_launch_begins(warp);
  return step + 1;
}
void build_launch_order(Decoder& decoder, const ptx::Instruction& one) {
  decoder.emit(one.has("wait") ? &wait_for_launches : &let_next_launch_begin);
}

// What says when something should happen, and nothing of what: what is to be in a cache.
const Step* nothing(const Step* step, Warp&) { return step + 1; }
void build_nothing(Decoder& decoder, const ptx::Instruction&) { decoder.emit(&nothing); }

// createpolicy: how a cache should treat accesses that name it. A GPU's number, of which <cuda/annotated_ptr> says what it
// is made of; Step::count is what is to become of the chosen accesses, and of the others.
std::uint64_t policy(const Step& step, std::uint64_t kind, std::uint64_t choice) {
  return choice | std::uint64_t{step.count} << 56 | kind << 59;
}
// So many sixteenths of all, beside the first.
const Step* fractional_policy(const Step* step, Warp& warp) {
  constexpr float kLeast = std::numeric_limits<float>::epsilon();
  const auto* const fraction = warp.values<const float>(step->from[0]);
  auto* const to = warp.values<std::uint64_t>(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    const float its = fraction[lane] > kLeast ? std::min(fraction[lane], 1.0f) : kLeast;
    to[lane] = policy(*step, 2, static_cast<std::uint64_t>((its - kLeast) * 16) << 52);
  });
  return step + 1;
}
// Those to at most 127 blocks, which are a power of two of bytes each.
const Step* range_policy(const Step* step, Warp& warp) {
  constexpr int kLeastBits = 12, kMost = 127;
  const auto* const base = warp.values<const std::uint64_t>(step->from[0]);
  const auto* const chosen = warp.values<const std::uint32_t>(step->from[1]);
  const auto* const all = warp.values<const std::uint32_t>(step->from[2]);
  auto* const to = warp.values<std::uint64_t>(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    const int all_bits = all[lane] == 0 ? 0 : std::bit_width(all[lane] - 1);
    const int bits = std::max(all_bits - 7, kLeastBits);
    const std::uint64_t from = base[lane] + static_cast<std::uint64_t>(step->offset);
    const std::uint64_t begin = from >> bits;
    const std::uint64_t end = (from + chosen[lane] + (std::uint64_t{1} << bits) - 1) >> bits;
    const auto count = std::clamp<std::uint64_t>(end - begin, 1, kMost);
    const auto size = static_cast<std::uint64_t>(bits - kLeastBits);
    to[lane] = policy(*step, 3, count << 37 | (begin & kMost) << 44 | size << 52);
  });
  return step + 1;
}
void build_policy(Decoder& decoder, const ptx::Instruction& one) {
  const bool is_range = one.has("range");
  std::int64_t offset = 0;
  std::uint32_t from[3] = {};
  if (is_range) {
    const Decoder::Address at = decoder.address(one.operands.at(1));
    offset = at.offset;
    from[0] = at.base;
    from[1] = decoder.source(one.operands.at(2), ptx::Type::u32);
    from[2] = decoder.source(one.operands.at(3), ptx::Type::u32);
  } else if (one.operands.size() > 1) {
    from[0] = decoder.source(one.operands[1], ptx::Type::f32);
  } else {
    from[0] = decoder.constant(std::bit_cast<std::uint32_t>(1.0f), 4);
  }
  // The first that is named is that of the chosen ones; the others may be evicted first.
  std::vector<std::string_view> priorities;
  for (const std::string_view modifier : one.modifiers) {
    if (modifier.starts_with("L2::")) priorities.push_back(modifier);
  }
  const std::string_view its = priorities.at(0);
  const int chosen = its == "L2::evict_first"    ? 1
                     : its == "L2::evict_last"   ? 2
                     : its == "L2::evict_normal" ? 3
                                                 : 0;
  const bool are_first = priorities.size() > 1 && priorities[1] == "L2::evict_first";
  const std::uint32_t to = decoder.destination(one.operands.at(0), ptx::Type::b64);
  Step& step = decoder.emit(is_range ? &range_policy : &fractional_policy);
  step.to = to;
  std::copy(std::begin(from), std::end(from), step.from);
  step.offset = offset;
  step.count = static_cast<std::uint8_t>(chosen * 2 + (are_first ? 1 : 0));
}
// Of what the host chose: any number will do.
void build_policy_of_property(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t to = decoder.destination(one.operands.at(0), ptx::Type::b64);
  decoder.emit(&nothing).to = to;
}

// Others have a turn.
const Step* sleep(const Step* step, Warp& warp) {
  warp.note_sleep(step);
  return warp.leave(step + 1, Group::State::polling);
}

}  // namespace

Execute end_of_lanes() { return &end; }
Execute jump_to_label() { return &jump; }
bool goes_to_label(Execute run) {
  return run == &jump || run == &branch || run == &next_round || run == &take_rounds ||
         run == &enter_loop<std::int32_t> || run == &enter_loop<std::uint32_t> ||
         run == &enter_loop<std::int64_t>;
}
bool is_conditional_jump(Execute run) { return run == &branch || run == &next_round; }

UnrolledSteps steps_of_unrolled(ptx::Type counter) {
  const Execute enter = ptx::bytes_of(counter) == 8 ? &enter_loop<std::int64_t>
                        : counter == ptx::Type::u32 ? &enter_loop<std::uint32_t>
                                                    : &enter_loop<std::int32_t>;
  return {enter, &next_round, &take_rounds};
}

void add_control_forms(std::vector<Form>& forms) {
  using Guarding = Form::Guarding;
  add_built(forms, "bra[.uni]", &build_branch, Guarding::itself);
  add_built(forms, "brx.idx[.uni]", &build_indexed_branch, Guarding::itself);
  add_built(forms, "ret[.uni]", &build_return, Guarding::itself);
  add_built(forms, "exit", &build_exit, Guarding::apart);
  add_built(forms, "call[.uni]", &build_call, Guarding::itself);
  add_built(forms, "griddepcontrol(.wait|.launch_dependents)", &build_launch_order);
  for (const std::string pattern :
       {"pmevent[.mask]", "prefetch(.L1|.L2)",
        "prefetch(.global|.local)(.L1|.L2|.L2::evict_last|.L2::evict_normal)",
        "prefetch[.param|.const](.tensormap)", "prefetchu.L1", "discard[.global].L2",
        "applypriority[.global].L2::evict_normal"}) {
    add_built(forms, pattern, &build_nothing);
  }
  add_built(forms,
            "createpolicy.fractional(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::"
            "evict_unchanged)[.L2::evict_first|.L2::evict_unchanged].b64",
            &build_policy);
  add_built(forms,
            "createpolicy.range[.global](.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::"
            "evict_unchanged)[.L2::evict_first|.L2::evict_unchanged].b64",
            &build_policy);
  add_built(forms, "createpolicy.cvt.L2.b64", &build_policy_of_property);
  add_built(
      forms, "nanosleep.u32",
      [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&sleep); }, Guarding::apart);
  // Without a debugger that waits for it.
  add_built(forms, "brkpt", [](Decoder& decoder, const ptx::Instruction&) {
    decoder.emit_service({.service = Service::trap, .arguments = {}});
  });
}

}  // namespace simt::machine
