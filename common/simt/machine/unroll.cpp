#include "common/simt/machine/unroll.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace simt::machine {
namespace {

using ptx::Instruction;
using ptx::Operand;

// The longest that is unrolled depends on more than this.
constexpr std::int32_t kMostInstructions = 50;
constexpr int kMostLoads = 12;

bool is_register(const Operand& operand, std::int32_t index) {
  return operand.kind == Operand::Kind::reg && operand.index == index;
}

// A loop from `head` to `jump`.
class Loop {
 public:
  Loop(const ptx::Function& function, std::int32_t head, std::int32_t jump)
      : function_(function), head_(head), jump_(jump) {}

  std::optional<UnrolledLoop> unrolled() const {
    if (jump_ - head_ >= kMostInstructions || function_.kept_loops.contains(head_)) return {};
    int loads = 0;
    for (std::int32_t i = head_; i < jump_; ++i) {
      if (!may_be_unrolled(at(i))) return {};
      loads += at(i).opcode == "ld" ? 1 : 0;
    }
    if (loads > kMostLoads) return {};
    // setp.lt.s32 %p, %counter, bound;
    const Instruction& back = at(jump_);
    const std::optional<std::int32_t> test =
        back.guard_negated ? std::nullopt : only_write(back.guard);
    if (!test || at(*test).opcode != "setp" || at(*test).operands.size() != 3) return {};
    const Instruction& compare = at(*test);
    if (!is_count(compare.type()) || compare.operands[1].kind != Operand::Kind::reg) return {};
    const Operand& counter = compare.operands[1];
    const Operand& bound = compare.operands[2];
    const bool is_fixed = bound.kind == Operand::Kind::number ||
                          (bound.kind == Operand::Kind::reg && writes(bound.index) == 0);
    const std::optional<std::int64_t> step = step_of(counter.index, *test);
    if (!is_fixed || !step) return {};
    if (!(compare.has("ne") || (compare.has("lt") && *step > 0) ||
          (compare.has("gt") && *step < 0))) {
      return {};
    }
    return UnrolledLoop{head_, jump_, counter, bound, compare.type(), *step};
  }

 private:
  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  static bool is_count(ptx::Type type) {
    return type == ptx::Type::s32 || type == ptx::Type::u32 || type == ptx::Type::s64 ||
           type == ptx::Type::u64;
  }
  // What only computes, loads and stores, each in one instruction or few.
  bool may_be_unrolled(const Instruction& one) const {
    static const std::set<std::string_view> all = {
        "abs",  "add",   "and",  "bfe", "bfi",  "clz", "cvt", "cvta", "ex2", "fma", "ld",
        "lg2",  "lop3",  "mad",  "max", "min",  "mov", "mul", "neg",  "not", "or",  "popc",
        "prmt", "rsqrt", "selp", "set", "setp", "shf", "shl", "shr",  "st",  "sub", "xor"};
    if (!all.contains(one.opcode) || one.guard >= 0) return false;
    if (one.opcode != "ld" && one.opcode != "st") return true;
    for (const std::string_view word :
         {"volatile", "relaxed", "acquire", "release", "mmio", "local"}) {
      if (one.has(word)) return false;
    }
    // A store whose address is worked out anew in each round may lead to what the next one loads.
    return one.opcode == "ld" || !one.has("global") || is_stepped(one.operands[0]);
  }
  bool is_stepped(const Operand& address) const {
    if (address.kind != Operand::Kind::address || address.parts.size() != 1) return false;
    const Operand& base = address.parts.front();
    if (base.kind != Operand::Kind::reg) return true;
    if (writes(base.index) == 0) return true;
    const std::optional<std::int32_t> place = only_write(base.index);
    return place && at(*place).opcode == "add" && is_register(at(*place).operands[1], base.index);
  }
  template <class Visit>
  void each_write(std::int32_t index, Visit visit) const {
    for (std::int32_t i = head_; i < jump_; ++i) {
      const Instruction& one = at(i);
      if (one.opcode == "st" || one.operands.empty()) continue;
      const Operand& result = one.operands.front();
      const bool is_its =
          is_register(result, index) ||
          std::any_of(result.parts.begin(), result.parts.end(),
                      [&](const Operand& part) { return is_register(part, index); });
      if (is_its) visit(i);
    }
  }
  int writes(std::int32_t index) const {
    int count = 0;
    each_write(index, [&](std::int32_t) { ++count; });
    return count;
  }
  std::optional<std::int32_t> only_write(std::int32_t index) const {
    std::optional<std::int32_t> place;
    each_write(index, [&](std::int32_t i) { place = i; });
    return writes(index) == 1 ? place : std::nullopt;
  }
  // What is added to the register in each round, before that place.
  std::optional<std::int64_t> step_of(std::int32_t index, std::int32_t before) const {
    const std::optional<std::int32_t> place = only_write(index);
    if (!place || *place > before) return {};
    const Instruction& one = at(*place);
    if (one.opcode != "add" || one.operands.size() != 3 || !is_register(one.operands[1], index) ||
        one.operands[2].kind != Operand::Kind::number) {
      return {};
    }
    const std::uint64_t bits = one.operands[2].bits;
    const std::int64_t step = ptx::bytes_of(one.type()) == 8 ? static_cast<std::int64_t>(bits)
                                                             : static_cast<std::int32_t>(bits);
    return step == 0 ? std::nullopt : std::optional(step);
  }

  const ptx::Function& function_;
  std::int32_t head_, jump_;
};

}  // namespace

std::vector<UnrolledLoop> loops_unrolled_by_ptxas(const ptx::Function& function) {
  std::vector<UnrolledLoop> found;
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    if (one.opcode != "bra" || one.guard < 0 || one.operands.size() != 1 ||
        one.operands[0].kind != Operand::Kind::label) {
      continue;
    }
    const std::int32_t head = function.labels[static_cast<std::size_t>(one.operands[0].index)];
    // One stretch: nobody comes to its middle.
    if (head < 0 || head > i || labels.upper_bound(head) != labels.upper_bound(i)) continue;
    if (const std::optional<UnrolledLoop> loop = Loop(function, head, i).unrolled()) {
      found.push_back(*loop);
    }
  }
  return found;
}

}  // namespace simt::machine
