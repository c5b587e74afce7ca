#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/jumps.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// What is stored in shared memory right before a jump around some steps, and then by these steps to the same places, is
// stored once, behind them, by all: tile[i] = 0; if (inside) tile[i] = in[i]. All of it, in one order.
class StoredAgain : Pass {
 public:
  explicit StoredAgain(const Pass& pass) : Pass(pass) {}

  void rewrite() {
    const std::vector<int> comers = comers_of(function);
    const auto comers_to = [&](std::int32_t place) {
      return place < 0 ? 0 : comers[static_cast<std::size_t>(place)];
    };
    for (std::int32_t i = 1; i + 1 < size(); ++i) {
      if (at(i).opcode != "bra" || at(i).guard < 0) continue;
      std::int32_t begin = i + 1, end = target(function, at(i));
      // Past a jump around them, too.
      if (end == i + 2 && at(i + 1).opcode == "bra" && at(i + 1).guard < 0) {
        begin = end;
        end = target(function, at(i + 1));
      }
      if (end <= begin || comers_to(begin) != 1 || comers_to(end) != 2 ||
          labels.lower_bound(begin + 1) != labels.find(end)) {
        continue;
      }
      const Stores again = stores_of(begin, end);
      if (again.empty() || !are_alike(stores_before(i), again) || is_in_bare_loop(i)) continue;
      for (const Instruction* const one : again) {
        std::vector<Instruction>& made = rewritten.try_emplace(one, 1, *one).first->second;
        for (Instruction& its : made) its.is_counted = false;
      }
    }
  }

 private:
  using Stores = std::vector<const Instruction*>;

  static bool is_store(const Instruction& one) {
    return is_mergeable(one, "shared") && !is_load(one) && ptx::bytes_of(one.type()) > 1;
  }
  // None if there is what keeps them where they are.
  Stores stores_of(std::int32_t begin, std::int32_t end) const {
    Stores all;
    for (std::int32_t i = begin; i < end; ++i) {
      const Instruction& one = at(i);
      if (is_store(one)) {
        all.push_back(&one);
      } else if (one.guard >= 0 || one.opcode == "setp" || is_fixed(one, "shared") ||
                 may_be_call(one) ||
                 ((is_load(one) || one.opcode == "st") && may_be(one, "shared"))) {
        return {};
      }
    }
    return all;
  }
  // Of the stretch that ends with the jump, behind its last barrier.
  Stores stores_before(std::int32_t jump) const {
    Stores all;
    for (std::int32_t i = jump - 1; i >= 0; --i) {
      const Instruction& one = at(i);
      if (one.opcode == "bra" || one.opcode == "bar" || one.opcode == "barrier") break;
      if (is_store(one)) {
        all.insert(all.begin(), &one);
      } else if ((is_load(one) && all.empty() && !one.has("param")) ||
                 (one.opcode == "st" && may_be(one, "shared")) || is_fixed(one, "shared")) {
        return {};
      }
      if (!labels.contains(i)) continue;
      if (is_behind_choice(i)) return {};
      break;
    }
    return all;
  }
  // Where ways meet that ptxas has made one before, of steps that store nothing else.
  bool is_behind_choice(std::int32_t place) const {
    for (std::int32_t i = 0; i < place; ++i) {
      if (at(i).opcode != "bra" || target(function, at(i)) != place) continue;
      if (std::none_of(&at(i), &at(place), [](const Instruction& one) {
            return (one.opcode == "st" && !one.has("shared")) || one.opcode == "atom" ||
                   one.opcode == "red";
          })) {
        return true;
      }
    }
    return false;
  }
  // In a loop without a barrier.
  bool is_in_bare_loop(std::int32_t place) const {
    for (std::int32_t i = place; i < size(); ++i) {
      if (at(i).opcode != "bra") continue;
      const std::int32_t begin = target(function, at(i));
      if (begin < 0 || begin > place) continue;
      return std::none_of(&at(begin), &at(i), [](const Instruction& one) {
        return one.opcode == "bar" || one.opcode == "barrier";
      });
    }
    return false;
  }
  bool are_alike(const Stores& before, const Stores& again) const {
    const auto is_alike = [&](const Instruction* one, const Instruction* other) {
      const Registers::Sum first = registers.sum(address_of(*one));
      const Registers::Sum second = registers.sum(address_of(*other));
      return first == second && first.bytes == second.bytes && values(*one) == values(*other) &&
             ptx::bytes_of(one->type()) == ptx::bytes_of(other->type()) &&
             std::none_of(one, other, [&](const Instruction& its) {
               const std::vector<std::int32_t> all = written_by(its);
               return std::any_of(all.begin(), all.end(),
                                  [&](std::int32_t index) { return first.has(index); });
             });
    };
    return std::equal(before.begin(), before.end(), again.begin(), again.end(), is_alike);
  }
};

}  // namespace

void count_stores_once(const Pass& pass) { StoredAgain(pass).rewrite(); }

}  // namespace simt::ptxas
