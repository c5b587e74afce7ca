#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// selp d, a, b, p: what only this reads is loaded into d where it is chosen, if the other is there already and nobody needs
// it any more.
class ChosenLoads : Pass {
 public:
  explicit ChosenLoads(const Pass& pass) : Pass(pass) {}

  void rewrite() {
    std::int32_t begin = 0;
    for (std::int32_t i = 0; i < size(); ++i) {
      if (labels.contains(i)) begin = i;
      const Instruction& one = at(i);
      if (one.opcode == "bra" || one.opcode == "brx") begin = i + 1;
      if (one.opcode == "selp" && !rewritten.contains(&one)) rewrite(begin, i);
    }
  }

 private:
  // The last place before `place` that sets the register; less than `begin`: none.
  std::int32_t set_before(std::int32_t begin, std::int32_t place, std::int32_t index) const {
    std::int32_t i = place - 1;
    while (i >= begin && !writes(at(i), index)) --i;
    return i;
  }

  void rewrite(std::int32_t begin, std::int32_t place) {
    const Instruction& one = at(place);
    if (one.guard >= 0 || one.operands.size() != 4 || ptx::bytes_of(one.type()) != 4 ||
        std::any_of(one.operands.begin(), one.operands.end(), [](const Operand& its) {
          return its.kind != Operand::Kind::reg || its.negated;
        })) {
      return;
    }
    std::size_t later = 1;
    std::int32_t from = set_before(begin, place, one.operands[1].index);
    const std::int32_t other_from = set_before(begin, place, one.operands[2].index);
    if (other_from > from) later = 2;
    // What the choice itself needs is there in any case.
    if (const std::int32_t last = std::max(from, other_from);
        last >= begin && is_load(at(last)) && registers.reads(one.operands[later].index) > 1) {
      later = 3 - later;
    }
    from = later == 1 ? from : other_from;
    const std::int32_t index = one.operands[later].index, other = one.operands[3 - later].index;
    if (index == other || from < begin || !can_wait(from, place, index) ||
        !is_free_behind(begin, place, other)) {
      return;
    }
    Instruction move = one, load = at(from);
    move.opcode = "mov";
    move.operands = {one.operands[0], one.operands[3 - later]};
    load.operands[0] = one.operands[0];
    load.guard = one.operands[3].index;
    load.guard_negated = later == 2;
    rewritten[&at(from)] = {};
    rewritten[&one] = {std::move(move), std::move(load)};
  }

  bool can_wait(std::int32_t from, std::int32_t place, std::int32_t index) const {
    const Instruction& load = at(from);
    if (!is_load(load) || rewritten.contains(&load) || values(load) != 1 ||
        ptx::bytes_of(load.type()) != 4 || registers.reads(index) != 1 ||
        !(is_mergeable(load, "global") || is_mergeable(load, "shared"))) {
      return false;
    }
    for (std::int32_t i = from + 1; i < place; ++i) {
      if (at(i).opcode == "st" || is_fixed(at(i), "global")) return false;
      for (const std::int32_t its : address_of(load).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }
  bool is_free_behind(std::int32_t begin, std::int32_t place, std::int32_t index) const {
    const std::vector<const Instruction*>& all = registers.definitions(index);
    if (all.size() == 1 && !is_load(*all.front()) && all.front()->opcode != "selp") return false;
    int before = 0;
    for (std::int32_t i = begin; i <= place; ++i) before += reads(at(i), index) ? 1 : 0;
    if (all.size() == 1) return before == registers.reads(index);
    for (auto i = static_cast<std::size_t>(place) + 1; i < function.body.size(); ++i) {
      const Instruction& one = function.body[i];
      if (reads(one, index)) return false;
      if (writes(one, index) || one.opcode == "bra" || one.opcode == "brx") break;
    }
    return !all.empty();
  }
};

}  // namespace

void choose_loads(const Pass& pass) { ChosenLoads(pass).rewrite(); }

}  // namespace simt::ptxas
