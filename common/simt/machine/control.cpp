// Branches, calls and ends (PTX ISA 9.7.12).
#include <string>

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
  return warp.split(step->target, takers, step + 1);
}

const Step* end(const Step*, Warp& warp) { return warp.end(); }

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

// createpolicy: how a cache should treat accesses that name it. Any number will do.
void build_policy(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t to = decoder.destination(one.operands.at(0), ptx::Type::b64);
  decoder.emit(&nothing).to = to;
}

// Others have a turn.
const Step* sleep(const Step* step, Warp& warp) {
  warp.note_sleep();
  return warp.leave(step + 1, Group::State::polling);
}

}  // namespace

Execute end_of_lanes() { return &end; }
bool goes_to_label(Execute run) { return run == &jump || run == &branch; }
bool is_conditional_jump(Execute run) { return run == &branch; }

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
  add_built(forms, "createpolicy.cvt.L2.b64", &build_policy);
  add_built(
      forms, "nanosleep.u32",
      [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&sleep); }, Guarding::apart);
  // Without a debugger that waits for it.
  add_built(forms, "brkpt", [](Decoder& decoder, const ptx::Instruction&) {
    decoder.emit_service({.service = Service::trap, .arguments = {}});
  });
}

}  // namespace simt::machine
