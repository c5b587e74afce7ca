// The bug hunts, all of them: `--contract` says what a hunt's program computes.
#include "common/exercise/check.hpp"

#include "exercises/hunts/contracts.hpp"

namespace halo::exercises {

namespace {

// Each group is tried, also behind one that fails: together they say more about the bug.
Verdict all_right(Check& check) {
  Verdict first{Outcome::good, ""};
  for (const Group& group : contract().groups) {
    Verdict verdict = check.right(group.name);
    if (first.outcome == Outcome::good) first = std::move(verdict);
  }
  return first;
}

Contract hunted(Contract contract) {
  for (Group& group : contract.groups) group.points = 0;
  contract.cases = {
      {"all outputs are right", Category::correctness, 50, all_right},
      safe("threads keep their order", 15, kOrder),
      safe("no access beyond an array, and none of what nobody wrote", 15, kMemory),
  };
  contract.budgets = {budget_named(contract.name)};
  return contract;
}

}  // namespace

const Contract& contract() {
  static const Contract contract = hunted(contract_named(contract_asked_for()));
  return contract;
}

}  // namespace halo::exercises
