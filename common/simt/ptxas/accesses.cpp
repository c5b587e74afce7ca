#include "common/simt/ptxas/accesses.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace simt::ptxas {

std::vector<std::int32_t> written_by(const Instruction& one) {
  return one.result() != nullptr ? one.result()->registers() : std::vector<std::int32_t>();
}
bool writes(const Instruction& one, std::int32_t index) {
  return one.result() != nullptr && one.result()->names(index);
}
bool reads(const Instruction& one, std::int32_t index) {
  return one.guard == index ||
         std::any_of(one.operands.begin(), one.operands.end(),
                     [&](const Operand& its) { return &its != one.result() && its.names(index); });
}

// ld d, [a] and st [a], b.
bool is_load(const Instruction& one) { return one.opcode == "ld"; }
const Operand& value_of(const Instruction& one) { return one.operands[is_load(one) ? 0 : 1]; }
const Operand& address_of(const Instruction& one) { return one.operands[is_load(one) ? 1 : 0]; }

// A load or store of that memory, which nobody else may be waiting for, with no word for a cache.
bool is_mergeable(const Instruction& one, std::string_view space) {
  const auto is_plain = [&](std::string_view word) {
    return word == space || word == "nc" || word == "v2" || word == "v4" ||
           word == one.modifiers.back();
  };
  return (is_load(one) || one.opcode == "st") && one.has(space) && one.guard < 0 &&
         one.operands.size() == 2 && address_of(one).kind == Operand::Kind::address &&
         address_of(one).parts.size() == 1 &&
         std::all_of(one.modifiers.begin(), one.modifiers.end(), is_plain);
}

std::size_t values(const Instruction& one) {
  return value_of(one).kind == Operand::Kind::vector ? value_of(one).parts.size() : 1;
}
const Operand& value(const Instruction& one, std::size_t i) {
  return value_of(one).kind == Operand::Kind::vector ? value_of(one).parts[i] : value_of(one);
}

// The instruction with these values instead of its own, so many bytes further on.
Instruction with_values(const Instruction& one, std::vector<Operand> its, std::int64_t further) {
  Instruction made = one;
  Operand& values = made.operands[is_load(one) ? 0 : 1];
  std::erase_if(made.modifiers, [](std::string_view word) { return word == "v2" || word == "v4"; });
  if (its.size() == 1) {
    values = its[0];
  } else {
    values = {};
    values.kind = Operand::Kind::vector;
    values.parts = std::move(its);
    made.modifiers.insert(made.modifiers.end() - 1, values.parts.size() == 2 ? "v2" : "v4");
  }
  made.operands[is_load(one) ? 1 : 0].offset += further;
  return made;
}

// A load in whose place its register takes what the other has loaded.
Instruction as_move(const Instruction& one, const Instruction& other) {
  Instruction move = one;
  move.opcode = "mov";
  move.modifiers = {one.modifiers.back()};
  move.operands = {value_of(one), value_of(other)};
  return move;
}

// Nothing of that memory is moved past these.
bool is_fixed(const Instruction& one, std::string_view space) {
  static const auto& all = *new std::set<std::string_view>{
      "atom", "red", "bar",  "barrier", "call",     "membar", "fence",    "bra",
      "brx",  "ret", "exit", "cp",      "mbarrier", "wmma",   "ldmatrix", "stmatrix"};
  const bool is_atomic = one.opcode == "atom" || one.opcode == "red";
  return all.contains(one.opcode) && !(is_atomic && space == "shared" && one.has("global"));
}
// Whether it may read, or write, that memory: what names none may be of any.
bool may_be(const Instruction& one, std::string_view space) {
  for (const std::string_view other : {"global", "shared", "local", "param", "const"}) {
    if (one.has(other)) return other == space;
  }
  return true;
}

// Divisions and roots that are a call in machine code.
bool may_be_call(const Instruction& one) {
  static const auto& all = *new std::set<std::string_view>{"div", "rem", "sqrt", "rcp"};
  if (!all.contains(one.opcode)) return false;
  return one.has("rn") || one.has("rz") || one.has("rm") || one.has("rp") ||
         ptx::bytes_of(one.type()) == 8;
}

}  // namespace simt::ptxas
