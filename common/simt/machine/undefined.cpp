#include "common/simt/machine/undefined.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "common/simt/machine/access.hpp"

namespace simt::machine {
namespace {

// Whether the values of a register are all zero bits in a lane.
bool is_zero(const Step& step, Warp& warp, std::uint32_t slot, std::size_t lane) {
  const ptx::Instruction& one = *warp.block->grid->code->sites[static_cast<std::size_t>(step.site)];
  const auto bytes = static_cast<std::size_t>(ptx::bytes_of(one.type()));
  const std::byte* const value = warp.registers + slot + lane * bytes;
  return std::all_of(value, value + bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

Flow flow_of(const ptx::Instruction& one) {
  // Of these a step names all that it reads, in `from`.
  // Never destroyed: a program that ends asks for modules that it has not used.
  static const auto& kComputing = *new std::set<std::string_view>{
      "abs",   "add",   "bfe",  "bfi",   "bfind", "bmsk",  "brev", "clz",  "cnot",  "copysign",
      "cos",   "cvt",   "cvta", "div",   "dp2a",  "dp4a",  "ex2",  "fma",  "fns",   "isspacep",
      "ld",    "ldu",   "lg2",  "lop3",  "mad",   "mad24", "max",  "min",  "mov",   "mul",
      "mul24", "neg",   "not",  "or",    "popc",  "prmt",  "rcp",  "rem",  "rsqrt", "sad",
      "selp",  "set",   "setp", "shf",   "shl",   "shr",   "sin",  "slct", "sqrt",  "st",
      "sub",   "szext", "tanh", "testp", "xor"};
  static const auto& kUsing = *new std::set<std::string_view>{
      "activemask", "applypriority", "atom",           "bar",   "barrier", "createpolicy",
      "discard",    "fence",         "griddepcontrol", "match", "membar",  "nanosleep",
      "pmevent",    "prefetch",      "prefetchu",      "red",   "redux",   "shfl",
      "trap",       "vote"};
  static const auto& kJumping = *new std::set<std::string_view>{"bra", "brx", "exit", "ret"};
  if (one.has("cc")) return Flow::unknown;  // the carry
  if (one.opcode == "and") return one.has("pred") ? Flow::conjoins : Flow::masks;
  if (kComputing.contains(one.opcode)) return Flow::computes;
  if (kUsing.contains(one.opcode)) return Flow::uses;
  return kJumping.contains(one.opcode) ? Flow::jumps : Flow::unknown;
}

void Undefined::needs(std::uint32_t slot, std::uint32_t lanes, Warp& warp) const {
  const auto found = slots_.find(slot);
  if (found == slots_.end()) return;
  each_lane(lanes, [&](std::size_t lane) {
    if (found->second[lane] != 0) {
      warp.block->grid->observer->matters(warp, found->second[lane]);
    }
  });
}

void Undefined::put(std::uint32_t slot, std::uint32_t lanes, const Origins& origins) {
  const auto is_none = [](Origin one) { return one == 0; };
  auto found = slots_.find(slot);
  if (found == slots_.end()) {
    if (std::all_of(origins.begin(), origins.end(), is_none)) return;
    found = slots_.emplace(slot, Origins{}).first;
  }
  each_lane(lanes, [&](std::size_t lane) { found->second[lane] = origins[lane]; });
  if (std::all_of(found->second.begin(), found->second.end(), is_none)) slots_.erase(found);
}

Undefined::Origins Undefined::made_by(const Step& step, Warp& warp, std::uint32_t lanes) const {
  Origins made{};
  const auto add = [&](std::size_t lane, Origin one) {
    if (one == 0 || one == made[lane]) return;
    made[lane] = made[lane] == 0 ? one : warp.block->grid->observer->joined(warp, made[lane], one);
  };
  each_lane(lanes, [&](std::size_t lane) {
    const Origin a = at(step.from[0], lane), b = at(step.from[1], lane);
    const auto holds = [&](std::uint32_t slot) { return (warp.predicate(slot) >> lane & 1) != 0; };
    switch (step.flow) {
      case Flow::conjoins:
      case Flow::disjoins: {
        // One that decides alone.
        const bool deciding = step.flow == Flow::disjoins;
        if ((a == 0 && holds(step.from[0]) == deciding) ||
            (b == 0 && holds(step.from[1]) == deciding)) {
          return;
        }
        break;
      }
      case Flow::masks:
        if ((a == 0 && b != 0 && is_zero(step, warp, step.from[0], lane)) ||
            (b == 0 && a != 0 && is_zero(step, warp, step.from[1], lane))) {
          return;
        }
        break;
      case Flow::selects:
        if (const Origin chosen = at(step.from[2], lane); chosen != 0) {
          add(lane, chosen);
          break;
        }
        return add(lane, holds(step.from[2]) ? a : b);
      case Flow::inserts:
        add(lane, at(step.to, lane));
        break;
      default:
        break;
    }
    for (const std::uint32_t slot : step.from) add(lane, at(slot, lane));
  });
  return made;
}

void Undefined::pass(const Step& step, Warp& warp) {
  std::uint32_t lanes = warp.active;
  if (step.inner != nullptr) {
    needs(step.guard, lanes, warp);
    const std::uint32_t guard = warp.predicate(step.guard);
    lanes &= step.guard_negated ? ~guard : guard;
  }
  switch (step.flow) {
    case Flow::unknown:
      for (const auto& [slot, origins] : slots_) needs(slot, lanes, warp);
      return;
    case Flow::jumps:
      needs(step.guard, lanes, warp);
      if (step.to != 0) put(step.to, lanes, made_by(step, warp, lanes));
      return;
    case Flow::uses:
      for (const std::uint32_t slot : step.from) needs(slot, lanes, warp);
      if (step.to != 0) put(step.to, lanes, {});
      return;
    case Flow::loads:
      needs(step.from[kAddress], lanes, warp);
      for (int i = 0; i < step.count; ++i) put(value_slot(step, i), lanes, {});
      return;
    case Flow::stores:
      needs(step.from[kAddress], lanes, warp);  // where it goes the observer sees
      return;
    default:
      put(step.to, lanes, made_by(step, warp, lanes));
      return;
  }
}

}  // namespace simt::machine
