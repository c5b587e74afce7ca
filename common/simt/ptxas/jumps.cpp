#include "common/simt/ptxas/jumps.hpp"

#include <algorithm>
#include <utility>

#include "common/simt/ptxas/accesses.hpp"

namespace simt::ptxas {

std::int32_t target(const ptx::Function& function, const Instruction& jump) {
  const Operand& to = jump.operands[0];
  return to.kind == Operand::Kind::label ? function.labels[static_cast<std::size_t>(to.index)] : -1;
}

// From how many places one comes to each, from above or by a jump.
std::vector<int> comers_of(const ptx::Function& function) {
  std::vector<int> comers(function.body.size() + 1);
  const auto note = [&](std::int32_t place) {
    if (place >= 0) ++comers[static_cast<std::size_t>(place)];
  };
  for (const auto& [name, labels] : function.targets) {
    for (const std::int32_t label : labels) {
      note(function.labels[static_cast<std::size_t>(label)]);
    }
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    const bool leaves =
        one.opcode == "bra" || one.opcode == "brx" || one.opcode == "ret" || one.opcode == "exit";
    if (!leaves || one.guard >= 0) note(i + 1);
    if (one.opcode == "bra") note(target(function, one));
  }
  return comers;
}

// Places to which one jump forward leads, and nobody comes from above.
std::set<std::int32_t> arms_of(const ptx::Function& function) {
  const std::vector<int> comers = comers_of(function);
  std::set<std::int32_t> arms;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    if (one.opcode != "bra") continue;
    const std::int32_t to = target(function, one);
    if (to > i + 1 && comers[static_cast<std::size_t>(to)] == 1) arms.insert(to);
  }
  return arms;
}

// The first place from which somebody comes to each place, from above or by a jump forward; -1: by another jump too.
std::vector<std::int32_t> first_comers(const ptx::Function& function) {
  std::vector<std::int32_t> first(function.body.size() + 1);
  for (std::size_t i = 1; i < first.size(); ++i) first[i] = static_cast<std::int32_t>(i) - 1;
  for (const auto& [name, labels] : function.targets) {
    for (const std::int32_t label : labels) {
      const std::int32_t to = function.labels[static_cast<std::size_t>(label)];
      if (to >= 0) first[static_cast<std::size_t>(to)] = -1;
    }
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    if (one.opcode != "bra") continue;
    const std::int32_t to = target(function, one);
    if (to < 0) continue;
    std::int32_t& its = first[static_cast<std::size_t>(to)];
    its = to > i ? std::min(its, i) : -1;
  }
  return first;
}

Choices::Choices(const ptx::Function& function, const std::set<std::int32_t>& labels) {
  std::map<std::int32_t, std::size_t> jumps_to;
  std::map<std::int32_t, std::vector<std::int32_t>> forward;  // to where, and from where
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    for (const Operand& operand : one.operands) {
      if (operand.kind != Operand::Kind::label) continue;
      const std::int32_t to = function.labels[static_cast<std::size_t>(operand.index)];
      ++jumps_to[to];
      if (one.opcode == "bra" && one.guard >= 0 && to > i + 1) forward[to].push_back(i);
    }
  }
  std::set<std::pair<std::int32_t, std::int32_t>> ranges;  // how far, and to where
  for (const auto& [to, from] : forward) {
    if (from.size() == jumps_to[to]) ranges.emplace(to - from.front(), to);
  }
  const auto is_passed = [&](std::int32_t place) {
    const Instruction& one = function.body[static_cast<std::size_t>(place)];
    return (jumps.contains(place) || !is_fixed(one, "shared")) &&
           (ends.contains(place) || !labels.contains(place)) && one.opcode != "shfl" &&
           !may_be_call(one) && !(one.opcode == "st" && may_be(one, "shared"));
  };
  const auto loads = [&](std::int32_t place) {
    const Instruction& one = function.body[static_cast<std::size_t>(place)];
    return is_load(one) && may_be(one, "shared");
  };
  // Those inside others come first.
  for (const auto& [far, to] : ranges) {
    const std::vector<std::int32_t>& from = forward[to];
    bool are_all = true, some_load = false;
    for (std::int32_t i = to - far + 1; i < to; ++i) {
      // One more of these jumps, where nobody comes by another.
      const bool is_own = std::binary_search(from.begin(), from.end(), i) && !labels.contains(i);
      are_all = are_all && (is_passed(i) || is_own);
      some_load = some_load || loads(i);
    }
    if (!are_all) continue;
    if (some_load) with_loads.insert(to);
    jumps.insert(from.begin(), from.end());
    ends[to] = from.size();
  }
}

}  // namespace simt::ptxas
