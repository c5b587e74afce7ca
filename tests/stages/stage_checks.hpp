// What every stage must show on its backend, whatever its family.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/core/typed.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

// All variants: every adversarial problem that they take right, with every kind of data, without a
// hazard, and where it is counted with the traffic that was predicted; and each takes some.
template <class Given>
void require_trials(const Stage<Given>& stage) {
  const auto backend = usable_backend();
  const std::vector<Given> problems = adversarial<Given>(seed());
  int tried = 0;
  for (const Variant<Given>& variant : stage.variants) {
    INFO(stage.name << " " << variant.name);
    if (!variant.unavailable.empty()) {
      WARN(variant.name << " NOT RUN: " << variant.unavailable);
      continue;
    }
    ++tried;
    // What it must cost is predicted, or it is said why nothing can be.
    CHECK((variant.predict || !variant.uncounted.empty()));
    Row row;
    Progress progress;
    check_trials(variant, *backend, problems, seed(), row, progress);
    INFO(faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes == std::count_if(problems.begin(), problems.end(), [&](const auto& one) {
            return refusal(variant, one).empty();
          }));
    CHECK(row.check.shapes > 0);
    const bool watched = backend->observes() && variant.uncounted.empty();
    CHECK(row.hazards.outcome == (watched ? Outcome::good : Outcome::not_run));
    CHECK(row.traffic.outcome != Outcome::bad);
  }
  REQUIRE(tried > 0);
}

// All variants that are counted: predicted equals counted, on the first adversarial problem that they
// take and on `more` (require_trials judges all adversarial ones). Skips where the backend counts
// nothing.
template <class Given>
void require_traffic(const Stage<Given>& stage, const std::vector<Given>& more = {}) {
  const auto backend = counting_backend();
  int counted = 0;
  for (const Variant<Given>& variant : stage.variants) {
    if (!variant.predict || !variant.unavailable.empty()) continue;
    const std::vector<Given> problems = adversarial<Given>(seed());
    const auto takes = [&](const Given& problem) { return refusal(variant, problem).empty(); };
    std::vector<Given> taken;
    const auto first = std::find_if(problems.begin(), problems.end(), takes);
    if (first != problems.end()) taken.push_back(*first);
    std::copy_if(more.begin(), more.end(), std::back_inserter(taken), takes);
    for (const Given& problem : taken) {
      // Its launches are promised as its traffic is.
      CHECK_FALSE(variant.predict(problem).launches.empty());
      Row row;
      check_problem(variant, *backend, problem, seed(), row);
      INFO(stage.name << " " << variant.name << ": " << label(problem) << "\n" << faults(row));
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome == Outcome::good);
      CHECK(row.traffic.outcome == Outcome::good);
      ++counted;
    }
  }
  REQUIRE(counted > 0);
}

// The variant of that name.
template <class Given>
const Variant<Given>& variant_of(const Stage<Given>& stage, const std::string& name) {
  for (const Variant<Given>& variant : stage.variants) {
    if (variant.name == name) return variant;
  }
  FAIL("no variant " << name);
  throw std::logic_error("not reached");
}

// The variant's prediction. Skips where the backend counts nothing, so that a GPU's test does not pass
// by arithmetic alone.
template <class Given>
simt::Counters predict(const Stage<Given>& stage, const std::string& variant,
                       const Given& problem) {
  counting_backend();
  return variant_of(stage, variant).predict(problem);
}

}  // namespace halo::test
