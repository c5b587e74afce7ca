// Verification and traffic of the 1D family.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/conv1d.hpp"
#include "common/harness/conv1d_arrays.hpp"

namespace halo {

namespace {

std::string describe(const conv::Problem1d& problem, int threads) {
  std::string text = "length " + with_commas(problem.length()) + ", mask " +
                     std::to_string(problem.mask_width()) + ", " + std::to_string(threads) +
                     (threads == 1 ? " thread" : " threads");
  if (problem.border() == conv::Border::report) text += ", the report's border";
  return text;
}

// Adds one problem's result to the row: the first reason stays, the worst error counts.
void add_failure(Check& check, const std::string& where, const std::string& what) {
  if (check.outcome != Outcome::bad) check.reason = where + ": " + what;
  check.outcome = Outcome::bad;
}

bool same_place(const Hazard& a, const Hazard& b) {
  return a.kind == b.kind && a.file == b.file && a.line == b.line && a.other_file == b.other_file &&
         a.other_line == b.other_line && a.array == b.array;
}

void add_hazard(Hazards& hazards, const std::string& where, const Hazard& hazard) {
  if (hazards.findings.empty()) hazards.reason = "first with " + where;
  hazards.outcome = Outcome::bad;
  for (Hazard& known : hazards.findings) {
    if (same_place(known, hazard)) {
      known.count += hazard.count;
      return;
    }
  }
  hazards.findings.push_back(hazard);
}

Hazard stray_write(const Conv1dVariant& variant, const std::string& array,
                   const std::string& message) {
  Hazard hazard;
  hazard.kind = "stray_write";
  hazard.file = variant.source;
  hazard.array = array;
  hazard.count = 1;
  hazard.message = message;
  return hazard;
}

// One launch, with everything round it that a wrong variant can be caught by.
class Trial {
 public:
  Trial(const Conv1dVariant& variant, Backend& backend, const conv::Problem1d& problem,
        std::span<const float> mask, Conv1dArrays& arrays)
      : variant_(variant),
        backend_(backend),
        problem_(problem),
        mask_(mask),
        arrays_(arrays),
        where_(describe(problem, arrays.call.threads)) {}

  // `data` is in arrays.input. With `result` the whole output is kept there. False if the device
  // failed: nothing more can be run on it before Backend::recover().
  bool run(std::span<const float> data, conv::Demand demand, std::int64_t period, Row& row,
           std::vector<float>* result = nullptr) {
    arrays_.output.poison();
    if (variant_.set_mask) {
      const auto set = [&] { return variant_.set_mask(mask_.data(), problem_.mask_width()); };
      const Observation seen = backend_.run(set);
      if (!seen.error.empty()) {
        add_failure(row.check, where_, "setting the mask: " + seen.error);
        return false;
      }
    }
    seen_ = backend_.run([&] { return variant_.launch(arrays_.call); });
    for (Hazard& hazard : seen_.hazards) {
      name_from_root(hazard.file);
      name_from_root(hazard.other_file);
      add_hazard(row.hazards, where_, hazard);
    }
    if (seen_.unsupported && variant_.role == Role::peer) {
      row.check.reason = variant_.detail ? variant_.detail() : "it does not support this shape";
      return true;
    }
    if (!seen_.error.empty()) {
      add_failure(row.check, where_, seen_.error);
      return false;
    }
    ++row.check.shapes;
    compare(data, demand, period, row, result);
    return true;
  }

  const Observation& seen() const { return seen_; }

 private:
  // The compiler names files from the build folder; readers know them from the project's root.
  void name_from_root(std::string& file) const {
    if (file.ends_with("/" + variant_.source)) file = variant_.source;
  }

  void compare(std::span<const float> data, conv::Demand demand, std::int64_t period, Row& row,
               std::vector<float>* result) {
    const bool copies = variant_.role == Role::copy;
    std::optional<conv::Checker> checker;
    if (!copies) checker.emplace(problem_, data, mask_, demand, period);
    conv::Comparison comparison;
    if (result != nullptr) result->reserve(data.size());
    arrays_.output.for_each_part([&](std::size_t first, std::span<const float> cells) {
      comparison.merge(copies ? judge_copy(first, cells, data)
                              : checker->judge(static_cast<std::int64_t>(first), cells));
      if (result != nullptr) result->insert(result->end(), cells.begin(), cells.end());
    });
    if (demand == conv::Demand::bounded) {
      row.check.worst_share = std::max(row.check.worst_share, comparison.worst_share);
    }
    if (!comparison.passed()) add_failure(row.check, where_, comparison.describe());
    require_unchanged(arrays_.input, data, "input", row);
    require_unchanged(arrays_.mask, mask_, "mask", row);
    for (const auto& [array, name] :
         {std::pair{&arrays_.output, "output"}, std::pair{&arrays_.input, "input"},
          std::pair{&arrays_.mask, "mask"}}) {
      const std::string stray = array->stray_write(name);
      if (stray.empty()) continue;
      add_hazard(row.hazards, where_, stray_write(variant_, name, stray));
      add_failure(row.check, where_, stray);
    }
  }

  // A copy has the input where a convolution has its outputs, bit for bit.
  conv::Comparison judge_copy(std::size_t first, std::span<const float> cells,
                              std::span<const float> data) const {
    conv::Comparison comparison;
    comparison.compared = static_cast<std::int64_t>(cells.size());
    const auto begin = static_cast<std::size_t>(problem_.first_output());
    const auto end = static_cast<std::size_t>(problem_.end_output());
    if (first >= begin && first + cells.size() <= end &&
        std::memcmp(cells.data(), &data[first], cells.size_bytes()) == 0) {
      return comparison;
    }
    comparison.compared = 0;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      const auto index = static_cast<std::int64_t>(first + at);
      if (first + at < begin || first + at >= end) {
        comparison.judge_untouched(index, cells[at]);
      } else {
        comparison.judge(index, cells[at], data[first + at], 0);
      }
    }
    return comparison;
  }

  // Mends the array if it was changed: the next variant is to find it whole.
  void require_unchanged(Array& array, std::span<const float> values, const char* name, Row& row) {
    std::ptrdiff_t changed = -1;
    array.for_each_part([&](std::size_t first, std::span<const float> cells) {
      // Bit by bit: a NaN that was written must show.
      if (changed >= 0) return;
      if (std::memcmp(cells.data(), &values[first], cells.size_bytes()) == 0) return;
      std::size_t at = 0;
      while (std::memcmp(&cells[at], &values[first + at], sizeof(float)) == 0) ++at;
      changed = static_cast<std::ptrdiff_t>(first + at);
    });
    if (changed < 0) return;
    array.write(values);
    const std::string what = std::string("the ") + name + " was changed, at " + name + "[" +
                             std::to_string(changed) + "]";
    add_failure(row.check, where_, what);
    add_hazard(row.hazards, where_, stray_write(variant_, name, what));
  }

  const Conv1dVariant& variant_;
  Backend& backend_;
  const conv::Problem1d& problem_;
  std::span<const float> mask_;
  Conv1dArrays& arrays_;
  std::string where_;
  Observation seen_;
};

// What can be said when a variant's launches are over.
void settle(const Conv1dVariant& variant, Backend& backend, Row& row) {
  if (row.check.outcome == Outcome::not_run && row.check.shapes > 0) {
    row.check.outcome = Outcome::good;
  }
  if (row.hazards.outcome == Outcome::bad) return;
  if (!backend.observes()) {
    row.hazards.reason = backend.blind_reason();
  } else if (!variant.uncounted.empty()) {
    row.hazards.reason = variant.uncounted;
  } else if (row.check.shapes > 0) {
    row.hazards.outcome = Outcome::good;
  }
}

// After a launch that broke the device. What can't be repaired is said in the row.
void repair(Backend& backend, Row& row) {
  if (!backend.recover()) row.check.reason += "; the device can't be used any more";
}

double bytes_per_output(const simt::Counters& counters, double outputs) {
  return static_cast<double>(counters.global_load_sectors + counters.global_store_sectors) *
         conv::kSectorBytes / outputs;
}

}  // namespace

std::vector<Conv1dTrial> adversarial_trials(std::uint64_t seed) {
  constexpr auto kReport = conv::Border::report;
  constexpr int kWidest = conv::kMaxMaskWidth;
  std::vector<Conv1dTrial> trials = {
      // length, mask, threads
      {1, 1, 1},
      {1, 1, 32},
      {1, 9, 256},  // one output, the mask is all halo
      {2, 3, 1},    // blocks of one thread
      {3, 7, 16},   // the mask is wider than the signal
      {5, 9, 4},
      {7, 3, 2},
      {8, 15, 8},
      {16, 3, 16},  // the report's block, one block exactly
      {31, 5, 32},  // one short of a warp
      {32, 33, 32},
      {33, 1, 33},  // a mask of one tap: no halo
      {33, 3, 16},
      {63, 127, 64},
      {64, 3, 64},
      {97, 31, 33},  // a warp and one thread
      {100, 99, 7},
      {127, 5, 128},
      {128, 129, 128},
      {129, 9, 128},  // one output in the last block
      {131, 129, 48},
      {211, 63, 1},
      {255, 15, 100},
      {256, 9, 256},
      {257, 3, 256},
      {257, 63, 33},
      {300, kWidest, 1024},
      {509, 255, 96},
      {1000, 3, 16},  // the report's smallest problem and its default block
      {1021, 31, 31},
      {1024, 9, 1024},
      {1025, 9, 1024},
      {1200, kWidest, 64},  // a halo of eight blocks on each side
      {1999, 101, 333},
      {2053, 5, 1000},
      {4099, 9, 256},
      {16, 3, 16, kReport},
      {257, 257, 256, kReport},  // one output only
      {300, 31, 100, kReport},
      {1000, 9, 33, kReport},
  };
  conv::Random random(seed ^ 0x9e3779b97f4a7c15u);
  for (int i = 0; i < 6; ++i) {
    const int length = 1 + static_cast<int>(random.below(3000));
    const int mask_width = 1 + 2 * static_cast<int>(random.below(40));
    const int threads = 1 + static_cast<int>(random.below(1024));
    trials.push_back({length, mask_width, threads});
  }
  return trials;
}

void check_trials(const Conv1dVariant& variant, Backend& backend,
                  const std::vector<Conv1dTrial>& trials, std::uint64_t seed, Row& row,
                  Progress& progress) {
  if (!variant.unavailable.empty()) {
    row.check.reason = variant.unavailable;
    row.hazards.reason = variant.unavailable;
    return;
  }
  for (const Conv1dTrial& trial : trials) {
    progress.show(row.stage + " " + row.variant + ": shape " +
                  std::to_string(row.check.shapes + 1) + " of " + std::to_string(trials.size()));
    const conv::Problem1d problem(trial.length, trial.mask_width, trial.border);
    ++seed;
    if (trial.mask_width > variant.widest_mask) continue;
    const int shapes = row.check.shapes;
    bool alive = true;
    try {
      const auto try_with = [&](const std::vector<float>& input, const std::vector<float>& mask,
                                conv::Demand demand) {
        Conv1dArrays arrays(backend, problem, mask, trial.threads);
        arrays.input.write(input);
        return Trial(variant, backend, problem, mask, arrays).run(input, demand, 0, row);
      };
      alive = try_with(conv::exact_input(problem, seed), conv::exact_mask(problem, seed),
                       conv::Demand::exact) &&
              try_with(conv::adversarial_input(problem, seed),
                       conv::adversarial_mask(problem, seed), conv::Demand::bounded);
      row.check.shapes = shapes + 1;
    } catch (const std::runtime_error& error) {
      add_failure(row.check, describe(problem, trial.threads), error.what());
      alive = false;
    }
    if (!alive) {
      repair(backend, row);
      break;
    }
  }
  settle(variant, backend, row);
}

void check_workload(const Conv1dVariant& variant, Backend& backend, const Conv1dWorkload& workload,
                    Row& row, std::vector<std::vector<float>>* outputs) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = row.traffic.reason = variant.unavailable;
    return;
  }
  bool loaded = false;
  try {
    Conv1dArrays arrays(backend, workload.problem, workload.mask, workload.threads);
    check_workload(variant, backend, workload, arrays, loaded, row, outputs);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, describe(workload.problem, workload.threads), error.what());
    repair(backend, row);
  }
}

void check_workload(const Conv1dVariant& variant, Backend& backend, const Conv1dWorkload& workload,
                    Conv1dArrays& arrays, bool& loaded, Row& row,
                    std::vector<std::vector<float>>* outputs) {
  const conv::Problem1d& problem = workload.problem;
  const Conv1dShape& shape = arrays.call;
  std::vector<simt::Counters> channel_counters;
  bool alive = true;
  try {
    Trial trial(variant, backend, problem, workload.mask, arrays);
    for (const std::vector<float>& channel : workload.channels) {
      if (!loaded) arrays.input.write(channel);
      loaded = workload.channels.size() == 1;
      std::vector<float> result;
      alive = trial.run(channel, conv::Demand::bounded, workload.period, row,
                        outputs == nullptr ? nullptr : &result);
      if (!alive) break;
      channel_counters.push_back(trial.seen().counters);
      if (outputs != nullptr) outputs->push_back(std::move(result));
    }
  } catch (const std::runtime_error& error) {
    add_failure(row.check, describe(problem, workload.threads), error.what());
    alive = false;
  }
  if (!alive) repair(backend, row);
  settle(variant, backend, row);

  Traffic& traffic = row.traffic;
  if (!backend.observes()) {
    traffic.reason = backend.blind_reason();
    return;
  }
  if (!variant.uncounted.empty()) {
    traffic.reason = variant.uncounted;
    return;
  }
  if (!alive) {
    traffic.reason = "the kernel did not finish";
    return;
  }
  if (!variant.predict) {
    traffic.reason = "nobody predicted it";
    return;
  }
  // Every channel is the same work. The row shows one launch: the first that differs, if any does.
  const simt::Counters predicted = variant.predict(shape);
  const auto differs = std::find_if(channel_counters.begin(), channel_counters.end(),
                                    [&](const auto& counters) { return counters != predicted; });
  const simt::Counters counted =
      differs == channel_counters.end() ? channel_counters.front() : *differs;
  traffic.outcome = predicted == counted ? Outcome::good : Outcome::bad;
  if (traffic.outcome == Outcome::bad) traffic.reason = describe(problem, workload.threads);
  traffic.predicted = backend.by_name(predicted);
  traffic.counted = backend.by_name(counted);
  const double outputs_made = shape.last - shape.first;
  traffic.bytes_per_output_predicted = bytes_per_output(predicted, outputs_made);
  traffic.bytes_per_output_counted = bytes_per_output(counted, outputs_made);
  traffic.shared_conflicts =
      static_cast<double>(counted.shared_load_conflicts + counted.shared_store_conflicts);
  if (counted.global_load_requests > 0) {
    traffic.sectors_per_request = static_cast<double>(counted.global_load_sectors) /
                                  static_cast<double>(counted.global_load_requests);
  }
}

}  // namespace halo
