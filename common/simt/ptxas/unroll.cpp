#include "common/simt/ptxas/unroll.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/jumps.hpp"

namespace simt::ptxas {
namespace {

// The longest that is unrolled, as found: the more loads it has, the shorter.
constexpr std::int32_t kMostInstructions = 50;
bool is_short(std::int32_t instructions, int loads) {
  return instructions < kMostInstructions && 3 * instructions + 4 * loads < 159;
}

bool is_register(const Operand& operand, std::int32_t index) {
  return operand.kind == Operand::Kind::reg && operand.index == index;
}

// A loop from `head` to `jump`.
class Loop {
 public:
  Loop(const ptx::Function& function, std::int32_t head, std::int32_t jump)
      : function_(function), head_(head), jump_(jump) {}

  // Of one that accesses memory and always goes round the same number of times.
  struct Count {
    int rounds = 0;
    int cost = 0;                                     // of a round
    std::map<std::int32_t, std::int64_t> steps = {};  // to which registers a round adds what
    std::int64_t start = 0, step = 0;                 // of the one that counts
  };
  std::optional<Count> count() const {
    if (function_.kept_loops.contains(head_)) return {};
    const Instruction& back = at(jump_);
    const std::optional<std::int32_t> test =
        back.guard_negated ? std::nullopt : only_write(back.guard);
    if (!test || at(*test).opcode != "setp" || at(*test).operands.size() != 3) return {};
    const Instruction& compare = at(*test);
    const Operand& counter = compare.operands[1];
    if (!is_count(compare.type()) || counter.kind != Operand::Kind::reg ||
        compare.operands[2].kind != Operand::Kind::number) {
      return {};
    }
    Count all;
    bool has_access = false;
    for (std::int32_t i = head_; i < jump_; ++i) {
      const Instruction& one = at(i);
      if (!is_plain(one)) return {};
      has_access |= (one.opcode == "ld" || one.opcode == "st") && !one.has("param");
      if (one.opcode == "st" || one.operands[0].kind != Operand::Kind::reg) {
        all.cost += cost_of(one);
        continue;
      }
      if (const auto step = step_of(one.operands[0].index, jump_)) {
        all.steps[one.operands[0].index] = *step;
      } else if (i != *test) {
        all.cost += cost_of(one);
      }
    }
    const auto step = all.steps.find(counter.index);
    if (!has_access || step == all.steps.end() || *only_write(counter.index) > *test ||
        !is_for_jump(*test)) {
      return {};
    }
    const std::optional<std::int64_t> start = start_of(counter.index);
    if (!start) return {};
    all.start = *start;
    all.step = step->second;
    const bool is_wide = ptx::bytes_of(compare.type()) == 8;
    const auto bits = static_cast<std::int64_t>(compare.operands[2].bits);
    const std::int64_t bound = is_wide ? bits : static_cast<std::int32_t>(bits);
    const bool is_unsigned = compare.type() == ptx::Type::u32 || compare.type() == ptx::Type::u64;
    if (is_unsigned && !compare.has("ne") && (bound < 0 || all.start < 0)) return {};
    const auto goes_on = [&](std::int64_t value) {
      if (compare.has("ne")) return value != bound;
      return compare.has("lt") ? value < bound : compare.has("gt") && value > bound;
    };
    constexpr int kMost = 1100;
    std::int64_t value = all.start;
    do {
      value += all.step;
      ++all.rounds;
    } while (all.rounds < kMost && goes_on(value));
    return all.rounds < kMost ? std::optional(all) : std::nullopt;
  }

  std::optional<UnrolledLoop> unrolled() const {
    const std::optional<std::vector<Choice>> choices = all_choices();
    if (!choices || function_.kept_loops.contains(head_)) return {};
    std::int32_t instructions = 0;
    int loads = 0;
    const bool loads_global = std::any_of(&at(head_), &at(jump_), [](const Instruction& one) {
      return one.opcode == "ld" && may_be(one, "global");
    });
    for (std::int32_t i = head_; i < jump_; ++i) {
      const Instruction& one = at(i);
      if (one.opcode == "bra") continue;
      if (!may_be_unrolled(one, loads_global) ||
          (one.opcode == "st" && one.has("global") && is_chosen(*choices, i))) {
        return {};
      }
      ++instructions;
      loads += one.opcode == "ld" ? 1 : 0;
    }
    if (!is_short(instructions, loads)) return {};
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
    const std::optional<std::int64_t> step = step_of(counter.index, *test, true);
    if (!is_fixed || !step || is_chosen(*choices, *test) ||
        is_chosen(*choices, *only_write(counter.index))) {
      return {};
    }
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
  // What some lanes do, or one thing or the other, in a round: ptxas does it under a predicate.
  struct Choice {
    std::int32_t begin, end;
  };
  static bool is_chosen(const std::vector<Choice>& choices, std::int32_t place) {
    return std::any_of(choices.begin(), choices.end(),
                       [&](const Choice& its) { return its.begin < place && place < its.end; });
  }
  // Those of the loop, if it has no other jumps, and nobody else comes into its middle.
  std::optional<std::vector<Choice>> all_choices() const {
    std::vector<Choice> all;
    std::set<std::int32_t> jumps;
    for (std::int32_t i = head_; i < jump_; ++i) {
      if (at(i).opcode != "bra") continue;
      jumps.insert(i);
      std::int32_t end = at(i).guard >= 0 ? target(function_, at(i)) : -1;
      if (end <= i || end > jump_) return {};
      const std::int32_t last = end - 1;  // of the first of two ways
      if (last > i && at(last).opcode == "bra") {
        end = at(last).guard < 0 ? target(function_, at(last)) : -1;
        if (end <= last + 1 || end > jump_) return {};
        jumps.insert(last);
      }
      all.push_back({i, end});
      for (std::int32_t inner = i + 1; inner < end; ++inner) {
        if (at(inner).opcode == "bra" && inner != last) return {};
      }
      i = end - 1;
    }
    const auto is_inside = [&](std::int32_t label) {
      const std::int32_t place = function_.labels[static_cast<std::size_t>(label)];
      return place > head_ && place <= jump_;
    };
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      for (const Operand& operand : at(i).operands) {
        if (operand.kind == Operand::Kind::label && !jumps.contains(i) &&
            is_inside(operand.index)) {
          return {};
        }
      }
    }
    for (const auto& [name, labels] : function_.targets) {
      if (std::any_of(labels.begin(), labels.end(), is_inside)) return {};
    }
    return all;
  }
  // So many instructions of machine code; an access counts twice.
  static int cost_of(const Instruction& one) {
    if (one.opcode == "ld" || one.opcode == "st") return 2;
    if (one.opcode == "mov" || one.opcode == "cvta") return 0;
    const bool is_whole = is_count(one.type()) || one.type() == ptx::Type::b64;
    if (is_whole && (ptx::bytes_of(one.type()) == 8 || one.has("wide"))) {
      return one.opcode == "mad" ? 4 : 2;
    }
    return one.opcode == "ex2" || one.opcode == "lg2" || one.opcode == "rsqrt" ? 5 : 1;
  }
  // Whether nothing but the jump back reads the test.
  bool is_for_jump(std::int32_t test) const {
    const auto reads = [&](const Instruction& one) {
      const auto is_it = [&](const Operand& operand) { return operand.names(at(jump_).guard); };
      return &one != &at(test) && &one != &at(jump_) &&
             (one.guard == at(jump_).guard ||
              std::any_of(one.operands.begin(), one.operands.end(), is_it));
    };
    return at(test).operands[0].kind == Operand::Kind::reg &&
           std::none_of(function_.body.begin(), function_.body.end(), reads);
  }
  // The one place outside the loop where the register is set; of those before `end`.
  std::optional<std::int32_t> set_outside(std::int32_t index) const {
    return set_outside(index, static_cast<std::int32_t>(function_.body.size()));
  }
  std::optional<std::int32_t> set_outside(std::int32_t index, std::int32_t end) const {
    std::optional<std::int32_t> place;
    for (std::int32_t i = 0; i < end; ++i) {
      if ((i >= head_ && i < jump_) || !ptxas::writes(at(i), index)) continue;
      if (place) return {};
      place = i;
    }
    return place;
  }
  // Whether nothing but this one instruction sets it.
  bool is_set_once(std::int32_t index) const { return set_outside(index) && writes(index) == 0; }

 public:
  // The instruction before the loop that sets the register to what it holds in the first round, from what does not change.
  std::optional<std::int32_t> begins_at(std::int32_t index) const {
    const std::optional<std::int32_t> set = set_outside(index);
    if (!set || *set >= head_ || at(*set).guard >= 0 || is_entered_behind(*set)) return {};
    const Instruction& one = at(*set);
    if (one.opcode != "mov" && one.opcode != "add") return {};
    const bool is_constant =
        std::all_of(one.operands.begin() + 1, one.operands.end(), [&](const Operand& from) {
          return from.kind == Operand::Kind::number || from.kind == Operand::Kind::symbol ||
                 (from.kind == Operand::Kind::reg && is_set_once(from.index));
        });
    return is_constant ? set : std::nullopt;
  }

 private:
  // What the register holds before the first round, if it is a number. (Whoever sets it behind the loop does not come back.)
  std::optional<std::int64_t> start_of(std::int32_t index) const {
    const std::optional<std::int32_t> set = set_outside(index, head_);
    if (!set || is_entered_behind(*set)) return {};
    for (std::int32_t place = *set;;) {
      const Instruction& one = at(place);
      if (one.opcode != "mov" || one.guard >= 0) return {};
      const Operand& from = one.operands[1];
      if (from.kind == Operand::Kind::number) {
        return ptx::bytes_of(one.type()) == 8 ? static_cast<std::int64_t>(from.bits)
                                              : static_cast<std::int32_t>(from.bits);
      }
      if (from.kind != Operand::Kind::reg || writes(from.index) > 0) return {};
      const std::optional<std::int32_t> before = set_outside(from.index);
      if (!before || *before >= place) return {};
      place = *before;
    }
  }
  // Whether somebody may come back to the loop without passing that place again, or to its head from elsewhere.
  bool is_entered_behind(std::int32_t place) const {
    const auto is_between = [&](std::int32_t label) {
      const std::int32_t at = function_.labels[static_cast<std::size_t>(label)];
      return at > place && at <= head_;
    };
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      for (const Operand& operand : at(i).operands) {
        if (operand.kind != Operand::Kind::label || i == jump_ || !is_between(operand.index)) {
          continue;
        }
        if (i > jump_ || function_.labels[static_cast<std::size_t>(operand.index)] == head_) {
          return true;
        }
      }
    }
    return std::any_of(function_.targets.begin(), function_.targets.end(), [&](const auto& each) {
      return std::any_of(each.second.begin(), each.second.end(), is_between);
    });
  }
  // What only computes, loads and stores, each in one instruction or few.
  static bool is_plain(const Instruction& one) {
    // Never destroyed: a program that ends asks for modules that it has not used.
    static const auto& all = *new std::set<std::string_view>{
        "abs",  "add",   "and",  "bfe", "bfi",  "clz", "cvt", "cvta", "ex2", "fma", "ld",
        "lg2",  "lop3",  "mad",  "max", "min",  "mov", "mul", "neg",  "not", "or",  "popc",
        "prmt", "rsqrt", "selp", "set", "setp", "shf", "shl", "shr",  "st",  "sub", "xor"};
    if (!all.contains(one.opcode) || one.guard >= 0) return false;
    if (one.opcode != "ld" && one.opcode != "st") return true;
    for (const std::string_view word :
         {"volatile", "relaxed", "acquire", "release", "mmio", "local"}) {
      if (one.has(word)) return false;
    }
    return true;
  }
  bool may_be_unrolled(const Instruction& one, bool loads_global) const {
    if (!is_plain(one)) return false;
    // A store whose address is worked out anew in each round may lead to what the next one loads.
    return one.opcode != "st" || !one.has("global") || !loads_global || is_stepped(one.operands[0]);
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
      if (ptxas::writes(at(i), index)) visit(i);
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
  // What is added to the register in each round, before that place: a number, or what a register always holds there.
  std::optional<std::int64_t> step_of(std::int32_t index, std::int32_t before,
                                      bool may_be_held = false) const {
    const std::optional<std::int32_t> place = only_write(index);
    if (!place || *place > before) return {};
    const Instruction& one = at(*place);
    if (one.opcode != "add" || one.modifiers.size() != 1 || !is_count(one.type()) ||
        !is_register(one.operands[1], index)) {
      return {};
    }
    const Operand& added = one.operands[2];
    if (may_be_held && added.kind == Operand::Kind::reg && writes(added.index) == 0) {
      return start_of(added.index);
    }
    if (added.kind != Operand::Kind::number) return {};
    const std::int64_t step = ptx::bytes_of(one.type()) == 8
                                  ? static_cast<std::int64_t>(added.bits)
                                  : static_cast<std::int32_t>(added.bits);
    return step == 0 ? std::nullopt : std::optional(step);
  }

  const ptx::Function& function_;
  std::int32_t head_, jump_;
};

// How many rounds ptxas puts together of a loop, as counted: all, or the most of which few enough are left over. It held
// for generated loops that cost 2 to 98 and go round 2 to 2,000 times, but for one round more or less of a few.
int rounds_together(const Loop::Count& its) {
  struct Limit {
    int of_all, saved;
  };
  constexpr Limit kLimits[] = {{1100, 2}, {528, 6}, {419, 9}, {320, 13}};
  if (std::all_of(std::begin(kLimits), std::end(kLimits), [&](const Limit& limit) {
        return its.rounds * (its.cost - limit.saved) <= limit.of_all;
      })) {
    return its.rounds;
  }
  constexpr int kMostOfRound = 73, kMostTogether = 348;
  if (its.cost > kMostOfRound) return 1;
  const int most = kMostTogether / its.cost;
  int together = most;
  while (together > 1 && together + its.rounds % together > most) --together;
  return together;
}

// What stands instead of a loop.
class WrittenOut {
 public:
  WrittenOut(ptx::Function& function, std::int32_t head, std::int32_t jump, Loop::Count its)
      : function_(function), head_(head), jump_(jump), its_(std::move(its)) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
      const Instruction& one = at(i);
      if ((i >= head && i <= jump) || one.result() == nullptr) continue;
      const std::vector<std::int32_t> its = one.result()->registers();
      set_outside_.insert(its.begin(), its.end());
    }
  }

  std::vector<Instruction> made() {
    const int together = rounds_together(its_);
    const int left = its_.rounds % together;
    if (together == its_.rounds) find_bases();
    add_rounds(together);
    if (together < its_.rounds) {
      const Instruction& back = at(jump_);
      for (std::int32_t i = head_; i < jump_; ++i) {
        if (!is_test(at(i))) continue;
        made_.push_back(at(i));
        Operand& bound = made_.back().operands[2];
        bound.bits = static_cast<std::uint64_t>(its_.start + (its_.rounds - left) * its_.step);
      }
      made_.push_back(back);
      add_rounds(left);
    }
    return std::move(made_);
  }

 private:
  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  bool is_test(const Instruction& one) const {
    return is_register(one.operands[0], at(jump_).guard);
  }

  void add_rounds(int count) {
    names_.clear();
    if (count < its_.rounds) bases_.clear();
    if (count > 0) copy_bases();
    std::map<std::int32_t, std::int64_t> further;
    for (int round = 0; round < count; ++round) {
      for (std::int32_t i = head_; i < jump_; ++i) {
        const Instruction& one = at(i);
        if (is_test(one)) continue;
        if (one.opcode != "st") {
          const auto step = its_.steps.find(one.operands[0].index);
          if (step != its_.steps.end()) {
            further[step->first] += step->second;
            continue;
          }
        }
        add(one, further, round + 1 == count);
      }
    }
    for (std::int32_t i = head_; i < jump_; ++i) {
      const Instruction& one = at(i);
      if (one.opcode == "st" || !its_.steps.contains(one.operands[0].index)) continue;
      if (count > 0) add_to(one, one.operands[0].index, count * its_.steps[one.operands[0].index]);
    }
  }

  // Where no round comes twice a pointer is what it begins with, made of registers that nothing changes, and so many bytes.
  void find_bases() {
    const Loop loop(function_, head_, jump_);
    for (const auto& [index, step] : its_.steps) {
      const std::optional<std::int32_t> place = loop.begins_at(index);
      if (!place) continue;
      Instruction begin = at(*place);
      begin.operands[0].index = bases_[index] = fresh(index);
      made_.push_back(std::move(begin));
    }
  }

  // Else it is what it is when the rounds begin; an address alone needs no copy of that.
  void copy_bases() {
    for (const auto& [index, step] : its_.steps) {
      if (bases_.contains(index) || !is_computed_with(index)) continue;
      Instruction copy;
      for (std::int32_t i = head_; i < jump_; ++i) {
        if (at(i).opcode != "st" && is_register(at(i).operands[0], index)) copy = at(i);
      }
      copy.opcode = "mov";
      copy.operands.pop_back();
      copy.operands[0].index = bases_[index] = fresh(index);
      made_.push_back(std::move(copy));
    }
  }
  bool is_computed_with(std::int32_t index) const {
    for (std::int32_t i = head_; i < jump_; ++i) {
      const Instruction& one = at(i);
      const std::size_t first = one.opcode == "st" ? 0 : 1;
      const bool is_own = first == 1 && is_register(one.operands[0], index);
      if (is_own || is_test(one)) continue;
      for (std::size_t k = first; k < one.operands.size(); ++k) {
        const Operand& its = one.operands[k];
        if (its.kind != Operand::Kind::address && its.names(index)) return true;
      }
    }
    return false;
  }

  // What is added to an address in each round goes into its offset.
  void add(const Instruction& one, const std::map<std::int32_t, std::int64_t>& further,
           bool is_last) {
    Instruction its = one;
    for (std::size_t i = one.opcode == "st" ? 0 : 1; i < its.operands.size(); ++i) {
      Operand& operand = its.operands[i];
      if (operand.kind == Operand::Kind::address && operand.parts[0].kind == Operand::Kind::reg &&
          its_.steps.contains(operand.parts[0].index)) {
        std::int32_t& base = operand.parts[0].index;
        if (const auto found = further.find(base); found != further.end()) {
          operand.offset += found->second;
        }
        if (const auto found = bases_.find(base); found != bases_.end()) base = found->second;
        continue;
      }
      rename_read(operand, further);
    }
    if (one.opcode != "st") rename_result(its.operands[0], one, is_last);
    made_.push_back(std::move(its));
  }

  void rename_read(Operand& operand, const std::map<std::int32_t, std::int64_t>& further) {
    for (Operand& part : operand.parts) rename_read(part, further);
    if (operand.kind != Operand::Kind::reg) return;
    if (its_.steps.contains(operand.index)) {
      const std::int32_t index = operand.index;
      const auto base = bases_.find(index);
      if (base != bases_.end()) operand.index = base->second;
      const auto found = further.find(index);
      if (found == further.end()) return;
      const Instruction* sum = nullptr;
      for (std::int32_t i = head_; i < jump_ && sum == nullptr; ++i) {
        if (at(i).opcode == "add" && is_register(at(i).operands[0], index)) sum = &at(i);
      }
      const std::int32_t from = operand.index;
      operand.index = add_to(*sum, fresh(index), found->second);
      made_.back().operands[1].index = from;
    } else if (const auto name = names_.find(operand.index); name != names_.end()) {
      operand.index = name->second;
    }
  }

  // A sum over the rounds keeps its name, but what is loaded gets one in each, and what one round alone needs.
  void rename_result(Operand& operand, const Instruction& one, bool is_last) {
    for (Operand& part : operand.parts) rename_result(part, one, is_last);
    if (operand.kind != Operand::Kind::reg) return;
    if (is_last) {
      names_.erase(operand.index);
    } else if (one.opcode == "ld" || names_.contains(operand.index) ||
               !set_outside_.contains(operand.index)) {
      const std::int32_t before = operand.index;
      operand.index = names_[before] = fresh(before);
    }
  }

  std::int32_t add_to(const Instruction& sum, std::int32_t result, std::int64_t further) {
    made_.push_back(sum);
    made_.back().operands[0].index = result;
    made_.back().operands[2].bits = static_cast<std::uint64_t>(further);
    return result;
  }
  std::int32_t fresh(std::int32_t like) {
    const ptx::Register its = function_.registers[static_cast<std::size_t>(like)];
    function_.registers.push_back(its);
    return static_cast<std::int32_t>(function_.registers.size()) - 1;
  }

  ptx::Function& function_;
  std::int32_t head_, jump_;
  Loop::Count its_;
  std::vector<Instruction> made_;
  std::map<std::int32_t, std::int32_t> names_;  // what a register is called now
  std::map<std::int32_t, std::int32_t> bases_;
  std::set<std::int32_t> set_outside_;
};

// Of a jump back that somebody may not take, the place to which it leads.
std::optional<std::int32_t> head_of(const ptx::Function& function, std::int32_t jump) {
  const Instruction& one = function.body[static_cast<std::size_t>(jump)];
  if (one.opcode != "bra" || one.guard < 0 || one.operands.size() != 1 ||
      one.operands[0].kind != Operand::Kind::label) {
    return {};
  }
  const std::int32_t head = function.labels[static_cast<std::size_t>(one.operands[0].index)];
  return head >= 0 && head <= jump ? std::optional(head) : std::nullopt;
}

// Whether nobody comes into the middle of a stretch of code.
bool is_one_stretch(const ptx::Function& function, std::int32_t head, std::int32_t jump) {
  return std::none_of(function.labels.begin(), function.labels.end(),
                      [&](std::int32_t place) { return place > head && place <= jump; });
}

void write_out(ptx::Function& function) {
  for (std::int32_t jump = 0; jump < static_cast<std::int32_t>(function.body.size()); ++jump) {
    const std::optional<std::int32_t> head = head_of(function, jump);
    if (!head || !is_one_stretch(function, *head, jump)) continue;
    std::optional<Loop::Count> its = Loop(function, *head, jump).count();
    if (!its || rounds_together(*its) == 1) continue;
    const bool is_rolled = rounds_together(*its) < its->rounds;
    std::vector<Instruction> made = WrittenOut(function, *head, jump, *std::move(its)).made();
    const std::int32_t further = static_cast<std::int32_t>(made.size()) - (jump + 1 - *head);
    if (!is_rolled) {
      const std::int32_t label = function.body[static_cast<std::size_t>(jump)].operands[0].index;
      function.labels[static_cast<std::size_t>(label)] = -1;
    }
    const auto moved = [&](std::int32_t place) { return place > *head ? place + further : place; };
    for (std::int32_t& place : function.labels) place = moved(place);
    std::set<std::int32_t> kept;
    for (const std::int32_t place : function.kept_loops) kept.insert(moved(place));
    function.kept_loops = std::move(kept);
    const auto begin =
        function.body.erase(function.body.begin() + *head, function.body.begin() + jump + 1);
    function.body.insert(begin, std::make_move_iterator(made.begin()),
                         std::make_move_iterator(made.end()));
    jump += further;
  }
}

}  // namespace

void write_out_counted_loops(ptx::Module& module) {
  if (module.is_debug) return;
  for (ptx::Function& function : module.functions) write_out(function);
}

std::vector<UnrolledLoop> unrolled_loops(const ptx::Function& function) {
  std::vector<UnrolledLoop> found;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const std::optional<std::int32_t> head = head_of(function, i);
    if (!head) continue;
    if (const std::optional<UnrolledLoop> loop = Loop(function, *head, i).unrolled()) {
      found.push_back(*loop);
    }
  }
  return found;
}

}  // namespace simt::ptxas
