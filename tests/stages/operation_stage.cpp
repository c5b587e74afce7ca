#include "tests/stages/operation_stage.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

namespace {

template <class Problem>
std::vector<Problem> taken(const OperationVariant<Problem>& variant,
                           std::vector<Problem> problems) {
  std::erase_if(problems,
                [&](const Problem& problem) { return !refusal(variant, problem).empty(); });
  return problems;
}

}  // namespace

template <class Problem>
void require_trials(const OperationStage<Problem>& stage) {
  const auto backend = usable_backend();
  const auto problems = adversarial_problems<Problem>(seed());
  int tried = 0;
  for (const OperationVariant<Problem>& variant : stage.variants) {
    INFO(stage.name << " " << variant.name);
    if (!variant.unavailable.empty()) {
      WARN(variant.name << " NOT RUN: " << variant.unavailable);
      continue;
    }
    ++tried;
    Row row;
    Progress progress;
    check_problems(variant, *backend, problems, seed(), row, progress);
    INFO(faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes == static_cast<int>(taken(variant, problems).size()));
    CHECK(row.check.shapes > 0);
    const bool watched = backend->observes() && variant.uncounted.empty();
    CHECK(row.hazards.outcome == (watched ? Outcome::good : Outcome::not_run));
  }
  REQUIRE(tried > 0);
}

template <class Problem>
void require_traffic(const OperationStage<Problem>& stage, const std::vector<Problem>& more) {
  const auto backend = counting_backend();
  std::vector<Problem> problems = adversarial_problems<Problem>(seed());
  problems.insert(problems.end(), more.begin(), more.end());
  int counted = 0;
  for (const OperationVariant<Problem>& variant : stage.variants) {
    if (!variant.predict || !variant.unavailable.empty()) continue;
    for (const Problem& problem : taken(variant, problems)) {
      Row row;
      check_problem(variant, *backend, problem, seed(), row);
      INFO(stage.name << " " << variant.name << ": " << conv::label(problem) << "\n"
                      << faults(row));
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome == Outcome::good);
      CHECK(row.traffic.outcome == Outcome::good);
      ++counted;
    }
  }
  REQUIRE(counted > 0);
}

template <class Problem>
const OperationVariant<Problem>& variant_of(const OperationStage<Problem>& stage,
                                            const std::string& name) {
  for (const OperationVariant<Problem>& variant : stage.variants) {
    if (variant.name == name) return variant;
  }
  FAIL("no variant " << name);
  throw std::logic_error("not reached");
}

template <class Problem>
simt::Counters predict(const OperationStage<Problem>& stage, const std::string& variant,
                       const Problem& problem) {
  counting_backend();
  return variant_of(stage, variant).predict(problem);
}

#define HALO_OPERATION(Problem)                                                               \
  template void require_trials(const OperationStage<Problem>&);                               \
  template void require_traffic(const OperationStage<Problem>&, const std::vector<Problem>&); \
  template const OperationVariant<Problem>& variant_of(const OperationStage<Problem>&,        \
                                                       const std::string&);                   \
  template simt::Counters predict(const OperationStage<Problem>&, const std::string&,         \
                                  const Problem&);
HALO_OPERATION(conv::Transform)
HALO_OPERATION(conv::PoolingLayer)
HALO_OPERATION(conv::Softmax)
#undef HALO_OPERATION

}  // namespace halo::test
