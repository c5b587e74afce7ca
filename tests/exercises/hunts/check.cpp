// The bug hunts, all of them: `--contract` says what a hunt's program computes.
#include "tests/exercises/check.hpp"

#include "tests/exercises/hunts/contracts.hpp"

namespace halo::exercises {

const Contract& contract() { return contract_named(contract_asked_for()); }

TEST_CASE("all outputs are right", "[correctness][points=50]") {
  // Each group is tried, also behind one that fails: together they say more about the bug.
  Verdict first{Outcome::good, ""};
  for (const Group& group : contract().groups) {
    Verdict verdict = check().right(group.name);
    if (first.outcome == Outcome::good) first = std::move(verdict);
  }
  require(first);
}

TEST_CASE("threads keep their order", "[safety][points=15]") { require(check().safe(kOrder)); }

TEST_CASE("no access beyond an array, and none of what nobody wrote", "[safety][points=15]") {
  require(check().safe(kMemory));
}

TEST_CASE("nothing is moved in vain", "[budget][points=20]") {
  const Budget& budget = budget_named(contract().name);
  require(check().within(budget.problem, budget.limits));
}

}  // namespace halo::exercises
