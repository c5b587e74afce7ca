// What every stage must show on its backend, whatever its family. Compiled once for each: stage_checks_of.hpp.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/core/variant.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

// All variants: every problem that they are to be tried with right, with every kind of data, without a
// hazard, and where it is counted with the traffic that was predicted; each is tried with enough. `lines`,
// if not null, gets which of the kernels' lines were reached, whatever the seed.
template <class Given>
void require_trials(const Stage<Given>& stage, LinesOf* lines = nullptr);

// The same, and where lines are counted they reach all of the kernels in the folder, without the problems that
// chance decides: so that they do with every seed.
template <class Given>
void require_trials_of_all_lines(const Stage<Given>& stage, const std::string& folder);

// Without the variants that the stage shows of common/convolve: these have tests of their own.
template <class Given>
Stage<Given> own(Stage<Given> stage) {
  std::erase_if(stage.variants, [](const Variant<Given>& variant) {
    return variant.source.starts_with("common/convolve/");
  });
  return stage;
}

// Of the stage's own kernels.
template <class Given>
void require_trials_of_all_lines(const Stage<Given>& stage);

// All variants that are counted: predicted equals counted, on the first adversarial problem that they
// take and on `more` (require_trials judges all adversarial ones). Skips where the backend counts
// nothing.
template <class Given>
void require_traffic(const Stage<Given>& stage, const std::vector<Given>& more = {});

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
  return variant_of(stage, variant).prepared(problem).cost();
}

}  // namespace halo::test
