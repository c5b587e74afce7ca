#include <algorithm>
#include <cstdint>
#include <map>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/jumps.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// Loads of what no round of a loop changes come before it, where the loop is one stretch of code that writes nothing to
// that memory; and if the stretch before it has loaded the same, there is one only. nvcc leaves them in loops with __ldg() or
// shuffles.
class Invariants : Pass {
 public:
  explicit Invariants(const Pass& pass) : Pass(pass) {}

  void rewrite() {
    std::map<std::int32_t, int> jumps;
    for (const Instruction& one : function.body) {
      if (one.opcode == "brx") return;
      if (one.opcode == "bra") ++jumps[target(function, one)];
    }
    for (std::int32_t end = 1; end < size(); ++end) {
      const Instruction& one = at(end);
      const std::int32_t begin = one.opcode == "bra" && one.guard >= 0 ? target(function, one) : -1;
      if (begin <= 0 || begin >= end || jumps[begin] != 1 || !falls_through(at(begin - 1)) ||
          !is_quiet(begin, end)) {
        continue;
      }
      for (std::int32_t i = begin; i < end; ++i) {
        if (is_invariant(at(i), begin, end)) move(at(i), begin);
      }
    }
  }

 private:
  static bool falls_through(const Instruction& one) {
    return one.guard >= 0 || (one.opcode != "bra" && one.opcode != "ret" && one.opcode != "exit");
  }
  static bool is_still(const Instruction& one) {
    if (one.opcode == "st") return !may_be(one, "global");
    if (is_load(one)) return !one.has("volatile") && !one.has("relaxed") && !one.has("acquire");
    return !is_fixed(one, "global") && one.opcode != "nanosleep";
  }
  bool is_quiet(std::int32_t begin, std::int32_t end) const {
    for (std::int32_t i = begin; i < end; ++i) {
      if (!is_still(at(i)) || (i > begin && labels.contains(i))) return false;
    }
    return true;
  }
  bool is_invariant(const Instruction& one, std::int32_t begin, std::int32_t end) const {
    if (!is_load(one) || !is_mergeable(one, "global") || values(one) != 1 ||
        ptx::bytes_of(one.type()) < 4 || rewritten.contains(&one) ||
        registers.definitions(value_of(one).index).size() != 1) {
      return false;
    }
    for (std::int32_t i = begin; i < end; ++i) {
      for (const std::int32_t its : address_of(one).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }
  void move(const Instruction& one, std::int32_t begin) {
    if (const Instruction* const same = loaded_before(one, begin)) {
      rewritten[&one] = {as_move(one, *same)};
      return;
    }
    const Instruction& last = at(begin - 1);
    if (!rewritten.contains(&last)) rewritten[&last] = {last};
    rewritten[&last].push_back(one);
    rewritten[&one] = {};
  }
  // In the stretch that ends where the loop begins, past jumps forward.
  const Instruction* loaded_before(const Instruction& one, std::int32_t begin) const {
    const Registers::Sum its = registers.sum(address_of(one));
    for (std::int32_t i = begin - 1; i >= 0; --i) {
      const Instruction& other = at(i);
      const bool is_jump = other.opcode == "bra" && other.guard >= 0;
      if (!is_still(other) && !is_jump) return nullptr;
      if (is_load(other) && is_mergeable(other, "global") && values(other) == 1 &&
          other.modifiers == one.modifiers && !rewritten.contains(&other) &&
          registers.definitions(value_of(other).index).size() == 1) {
        const Registers::Sum its_own = registers.sum(address_of(other));
        if (its_own == its && its_own.bytes == its.bytes) return &other;
      }
      const auto& registers = address_of(one).registers();
      if (labels.contains(i) || std::any_of(registers.begin(), registers.end(),
                                            [&](auto index) { return writes(other, index); })) {
        return nullptr;
      }
    }
    return nullptr;
  }
};

}  // namespace

void hoist_loads(const Pass& pass) { Invariants(pass).rewrite(); }

}  // namespace simt::ptxas
