#include "tests/stages/conv1d_stage.hpp"

#include <algorithm>

#include "common/conv/inputs.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

void require_trials(const Conv1dStage& stage) {
  const auto backend = usable_backend();
  const auto trials = adversarial_trials(seed());
  int tried = 0;
  for (const Conv1dVariant& variant : stage.variants) {
    INFO(stage.name << " " << variant.name);
    if (!variant.unavailable.empty()) {
      WARN(variant.name << " NOT RUN: " << variant.unavailable);
      continue;
    }
    ++tried;
    Row row;
    Progress progress;
    check_trials(variant, *backend, trials, seed(), row, progress);
    INFO(faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes ==
          std::count_if(trials.begin(), trials.end(), [&](const Conv1dTrial& trial) {
            return trial.mask_width <= variant.widest_mask;
          }));
    const bool watched = backend->observes() && variant.uncounted.empty();
    CHECK(row.hazards.outcome == (watched ? Outcome::good : Outcome::not_run));
  }
  REQUIRE(tried > 0);
}

void require_traffic(const Conv1dStage& stage) {
  const auto backend = counting_backend();
  const std::vector<Conv1dTrial> shapes = {
      {100'000, 9, 256},  // the shape of the known answers
      {1, 1, 1},
      {1, 1023, 1024},
      {1000, 3, 16},
      {1000, 31, 33},
      {777, 129, 48},
      {300, 1023, 64},
      {2053, 5, 1000},
      {500, 63, 1},
      {4099, 17, 256},
      {4099, 1, 256},
      {700, 31, 64},
      {1287, 29, 64},  // every distance from a multiple of 16 bytes
      {1287, 27, 64},
      {1287, 25, 64},
      {2571, 35, 64},
      {1000, 9, 100, conv::Border::report},
      {257, 257, 256, conv::Border::report},
  };
  int counted = 0;
  for (const Conv1dVariant& variant : stage.variants) {
    if (!variant.predict) continue;
    for (const Conv1dTrial& shape : shapes) {
      if (shape.mask_width > variant.widest_mask) continue;
      const conv::Problem1d problem(shape.length, shape.mask_width, shape.border);
      const Conv1dWorkload workload{problem,
                                    conv::adversarial_mask(problem, seed()),
                                    {conv::adversarial_input(problem, seed())},
                                    shape.threads};
      Row row;
      check_workload(variant, *backend, workload, row, nullptr);
      INFO(stage.name << " " << variant.name << ": length " << shape.length << ", mask "
                      << shape.mask_width << ", " << shape.threads << " threads\n"
                      << faults(row));
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome == Outcome::good);
      CHECK(row.traffic.outcome == Outcome::good);
      ++counted;
    }
  }
  REQUIRE(counted > 0);
}

simt::Counters predict(const Conv1dStage& stage, const std::string& variant,
                       const Conv1dShape& shape) {
  counting_backend();
  for (const Conv1dVariant& candidate : stage.variants) {
    if (candidate.name == variant) return candidate.predict(shape);
  }
  FAIL("no variant " << variant);
  return {};
}

}  // namespace halo::test
