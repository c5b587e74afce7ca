#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/jumps.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// A load that only those need who do not jump comes behind the jump, so that a warp in which all do has none. Where it
// stood it is still done, and not counted: that others load from beyond an array is a mistake, whatever ptxas makes of it.
class LateLoads : Pass {
 public:
  explicit LateLoads(const Pass& pass) : Pass(pass), read_(function.registers.size()) {
    for (std::int32_t i = 0; i < size(); ++i) {
      const auto note = [&](const Instruction& one) {
        const auto note_register = [&](std::int32_t index) {
          Reads& its = read_[static_cast<std::size_t>(index)];
          if (its.first < 0) its.first = i;
          its.last = i;
        };
        for (const Operand& operand : one.operands) {
          if (&operand != one.result()) operand.each_register(note_register);
        }
        if (one.guard >= 0) note_register(one.guard);
      };
      note(at(i));
      if (const auto found = rewritten.find(&at(i)); found != rewritten.end()) {
        for (const Instruction& its : found->second) note(its);
      }
    }
  }

  void rewrite() {
    const std::vector<Jumps> jumps = jumps_to();
    for (std::int32_t jump = 1; jump < size(); ++jump) {
      const Instruction& one = at(jump);
      if (one.opcode != "bra" || one.guard < 0) continue;
      const std::int32_t end = target(function, one);
      bool is_own = end > jump + 1;
      for (std::int32_t i = jump + 1; is_own && i < end; ++i) {
        const Jumps& its = jumps[static_cast<std::size_t>(i)];
        is_own = its.first >= jump && its.last < end;
      }
      if (!is_own || labels.contains(jump)) continue;  // a load does not go into a loop
      std::vector<Instruction> late;
      for (std::int32_t i = jump - 1; i >= 0 && !is_wall(at(i)); --i) {
        if (can_wait(i, jump, end)) {
          late.insert(late.begin(), at(i));
          rewritten[&at(i)] = {at(i)};
          rewritten[&at(i)].front().is_counted = false;
        }
        if (labels.contains(i)) break;
      }
      if (late.empty()) continue;
      std::vector<Instruction>& made = rewritten[&one];
      if (made.empty()) made.push_back(one);
      made.insert(made.end(), late.begin(), late.end());
    }
  }

 private:
  // The first and the last place from where one jumps to a place.
  struct Jumps {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
  };
  std::vector<Jumps> jumps_to() const {
    std::vector<Jumps> all(function.body.size() + 1);
    const auto note = [&](std::int32_t to, std::int32_t from) {
      if (to < 0) return;
      Jumps& its = all[static_cast<std::size_t>(to)];
      its.first = std::min(its.first, from);
      its.last = std::max(its.last, from);
    };
    for (const auto& [name, its_labels] : function.targets) {
      for (const std::int32_t label : its_labels) {
        note(function.labels[static_cast<std::size_t>(label)], -1);
      }
    }
    for (std::int32_t i = 0; i < size(); ++i) {
      if (at(i).opcode == "bra") note(target(function, at(i)), i);
    }
    return all;
  }
  static bool is_wall(const Instruction& one) {
    return one.opcode == "st" || is_fixed(one, "global");
  }
  bool can_wait(std::int32_t place, std::int32_t jump, std::int32_t end) const {
    const Instruction& load = at(place);
    if (!is_load(load) || load.guard >= 0 || rewritten.contains(&load) || values(load) != 1 ||
        !(is_mergeable(load, "global") || is_mergeable(load, "shared"))) {
      return false;
    }
    const bool is_direct = read_[static_cast<std::size_t>(value_of(load).index)].first > jump;
    std::set<std::int32_t> seen;
    if (!(is_direct || is_jumped(jump, end)) ||
        !is_for_those(value_of(load).index, place, jump, end, seen)) {
      return false;
    }
    for (std::int32_t i = place + 1; i < jump; ++i) {
      for (const std::int32_t its : address_of(load).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }

  // Whether ptxas has lanes jump there: what is short and straight it does under a predicate, and the end of a kernel is no
  // jump but EXIT.
  bool is_jumped(std::int32_t jump, std::int32_t end) const {
    constexpr std::int32_t kShort = 9;
    if (function.is_entry && end < size() && at(end).opcode == "ret") return false;
    return end - jump > kShort ||
           std::any_of(function.labels.begin(), function.labels.end(),
                       [&](std::int32_t place) { return place > jump && place < end; });
  }
  // Whether only those who do not jump need what is set at the place: what is worked out from it before goes with it.
  bool is_for_those(std::int32_t index, std::int32_t place, std::int32_t jump, std::int32_t end,
                    std::set<std::int32_t>& seen) const {
    if (!seen.insert(index).second) return true;
    const Reads& its_reads = read_[static_cast<std::size_t>(index)];
    if (registers.definitions(index).size() != 1 || its_reads.first <= place ||
        its_reads.last >= end || reads(at(jump), index)) {
      return false;
    }
    const auto goes_with_it = [&](const Instruction& one, std::int32_t its_place) {
      if (!reads(one, index)) return true;
      const std::vector<std::int32_t> all = written_by(one);
      return is_computed(one) && std::all_of(all.begin(), all.end(), [&](std::int32_t its) {
               return is_for_those(its, its_place, jump, end, seen);
             });
    };
    for (std::int32_t i = place + 1; i < jump; ++i) {
      const auto found = rewritten.find(&at(i));
      const bool goes = found == rewritten.end()
                            ? goes_with_it(at(i), i)
                            : std::all_of(found->second.begin(), found->second.end(),
                                          [&](const auto& one) { return goes_with_it(one, i); });
      if (!goes) return false;
    }
    return true;
  }
  // In few instructions, which divisions and roots are not; of addresses nothing is worked out behind the jump.
  static bool is_computed(const Instruction& one) {
    static const auto& all = *new std::set<std::string_view>{
        "abs", "add", "and", "bfe", "bfi",  "clz",  "cvt",  "fma",  "lop3", "mad", "max", "min",
        "mul", "neg", "not", "or",  "popc", "prmt", "selp", "setp", "shl",  "shr", "sub", "xor"};
    if (one.guard >= 0) return false;
    if (one.opcode == "mov" || one.opcode == "cvta") return true;
    return all.contains(one.opcode) && ptx::bytes_of(one.type()) < 8 && !one.has("wide");
  }

  // The places where a register is read, by what stands there now too; -1: nowhere.
  struct Reads {
    std::int32_t first = -1, last = -1;
  };

  std::vector<Reads> read_;
};

}  // namespace

void delay_loads(const Pass& pass) { LateLoads(pass).rewrite(); }

}  // namespace simt::ptxas
