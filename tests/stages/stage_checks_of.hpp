// The definitions of stage_checks.hpp, for the one file of each family that compiles them.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "common/harness/core/typed.hpp"
#include "common/harness/families/conv1d.hpp"
#include "tests/stages/stage_checks.hpp"

namespace halo::test {

// The variant is tried with one less than each of its tiles, as many, and one more; unless it takes no
// such problem (a kernel for one filter has no tile of filters: `sizes` are 1 in all that it takes).
template <class Given>
void require_tiles(const Variant<Given>& variant, const std::vector<Trial<Given>>& trials) {
  if (!variant.tiles) return;
  for (const auto letter : {&TileSizes::N, &TileSizes::C, &TileSizes::K, &TileSizes::P,
                            &TileSizes::Q, &TileSizes::cells}) {
    // Of 1D kernels a tile is as wide as the mask and the block say.
    for (const int more : {-1, 0, 1}) {
      std::set<int> wanted, seen;
      for (const Trial<Given>& trial : trials) {
        if (trial.on == TrialOn::some_blocks) continue;
        for (const TileSizes& tile : variant.tiles(trial.problem)) {
          const int size = tile.*letter;
          if (size == 0) continue;
          const int here = sizes_of(trial.problem).*letter;
          const bool is_1d = std::is_same_v<Given, Conv1dProblem>;
          wanted.insert(is_1d ? 0 : size);
          const bool is_there = is_1d ? here > size / 2 && (here - more) % size == 0
                                      : here == std::max(size + more, 1);
          if (is_there) seen.insert(is_1d ? 0 : size);
        }
      }
      INFO("one " << more << " than a tile");
      CHECK(seen == wanted);
    }
  }
}

// Whether a tiny GPU has room for any of its problems: of some kernels not even the smallest block fits there.
template <class Given>
bool takes_any_on_tiny_gpu(const Variant<Given>& variant, const std::vector<Trial<Given>>& trials,
                           Backend& backend) {
  const TinyGpu tiny(backend);
  const Variant<Given>& tried = variant.limited ? *variant.limited : variant;
  return std::any_of(trials.begin(), trials.end(), [&](const Trial<Given>& trial) {
    return trial.on == TrialOn::tiny_gpu && refusal(tried, trial.problem).empty();
  });
}

// Splits off those of the trials that chance decided: another seed has others.
template <class Given>
std::vector<Trial<Given>> without_drawn(std::vector<Trial<Given>> all,
                                        const Variant<Given>& variant,
                                        std::vector<Trial<Given>>& drawn) {
  const std::vector<Trial<Given>> others = trials(variant, seed() + 1);
  const auto first_drawn = std::stable_partition(all.begin(), all.end(), [&](const auto& trial) {
    return std::any_of(others.begin(), others.end(), [&](const Trial<Given>& other) {
      return label(other.problem) == label(trial.problem) && other.on == trial.on;
    });
  });
  drawn.assign(first_drawn, all.end());
  all.erase(first_drawn, all.end());
  return all;
}

template <class Given>
void require_trials(const Stage<Given>& stage, LinesOf* lines) {
  const auto backend = usable_backend();
  backend->take_coverage();
  int tried = 0;
  for (const Variant<Given>& variant : stage.variants) {
    INFO(stage.name << " " << variant.name);
    if (!variant.unavailable.empty()) {
      WARN(variant.name << " NOT RUN: " << variant.unavailable);
      continue;
    }
    ++tried;
    // What a kernel must cost is predicted.
    const std::vector<Trial<Given>> all = trials(variant, seed());
    CHECK((variant.prepared(all.front().problem).cost || !backend->observes()));
    Row row;
    Progress progress;
    std::vector<Trial<Given>> drawn;
    check_trials(variant, *backend, without_drawn(all, variant, drawn), seed(), row, progress);
    if (lines != nullptr) lines->add(backend->take_coverage());
    check_trials(variant, *backend, drawn, seed(), row, progress);
    backend->take_coverage();
    INFO(faults(row));
    CHECK(row.check.outcome == Outcome::good);
    const auto taken = std::count_if(all.begin(), all.end(), [&](const auto& trial) {
      return trial.on == TrialOn::device && refusal(variant, trial.problem).empty();
    });
    // What is near 2^31 cells is tried, or it is said why not; elsewhere than in the simulator neither.
    const LargeProblems& large = row.check.large;
    const auto near_2_31 = std::count_if(
        all.begin(), all.end(), [](const auto& trial) { return trial.on == TrialOn::some_blocks; });
    CHECK((large.tried > 0 || !large.reason.empty()) == (backend->observes() && near_2_31 > 0));
    CHECK((!backend->observes() || large.tried == near_2_31 || !large.reason.empty()));
    const bool has_tiny =
        backend->observes() && variant.plans && takes_any_on_tiny_gpu(variant, all, *backend);
    if (has_tiny) {
      CHECK(row.check.shapes > taken + large.tried);  // some of them on a tiny GPU
    } else {
      CHECK(row.check.shapes == taken + large.tried);
    }
    CHECK(taken >= (variant.role == Role::copy ? 1 : static_cast<int>(kFewestTrials)));
    require_tiles(variant, all);
    CHECK(row.hazards.outcome == (backend->observes() ? Outcome::good : Outcome::not_run));
    CHECK(row.traffic.outcome != Outcome::bad);
  }
  REQUIRE(tried > 0);
}

template <class Given>
void require_trials_of_all_lines(const Stage<Given>& stage, const std::string& folder) {
  LinesOf lines({folder});
  require_trials(stage, &lines);
  if (usable_backend()->observes()) require_all_lines(lines);
}

template <class Given>
void require_trials_of_all_lines(const Stage<Given>& stage) {
  require_trials_of_all_lines(own(stage), "stages/" + stage.name + "/");
}

template <class Given>
void require_traffic(const Stage<Given>& stage, const std::vector<Given>& more) {
  const auto backend = counting_backend();
  int counted = 0;
  for (const Variant<Given>& variant : stage.variants) {
    if (!variant.unavailable.empty()) continue;
    const std::vector<Given> problems = adversarial<Given>(seed());
    const auto takes = [&](const Given& problem) { return refusal(variant, problem).empty(); };
    std::vector<Given> taken;
    const auto first = std::find_if(problems.begin(), problems.end(), takes);
    if (first != problems.end()) taken.push_back(*first);
    std::copy_if(more.begin(), more.end(), std::back_inserter(taken), takes);
    for (const Given& problem : taken) {
      // Its launches are promised as its traffic is.
      const auto cost = variant.prepared(problem).cost;
      if (!cost) continue;
      CHECK_FALSE(cost().launches.empty());
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

}  // namespace halo::test
