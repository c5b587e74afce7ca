// Verification and traffic of the 1D family.
#include <algorithm>
#include <cstring>
#include <limits>

#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/conv1d.hpp"

namespace halo {

namespace {

Conv1dShape shape_of(const conv::Problem1d& problem, int threads) {
  Conv1dShape shape;
  shape.length = static_cast<int>(problem.length());
  shape.mask_width = problem.mask_width();
  shape.first = static_cast<int>(problem.first_output());
  shape.last = static_cast<int>(problem.end_output());
  shape.threads = threads;
  return shape;
}

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
        std::span<const float> mask, int threads)
      : variant_(variant),
        backend_(backend),
        problem_(problem),
        mask_(mask),
        shape_(shape_of(problem, threads)),
        where_(describe(problem, threads)),
        device_mask_(backend, mask.size()),
        input_(backend, problem.length()),
        output_(backend, problem.length()),
        result_(problem.length()) {
    device_mask_.write(mask);
  }

  // False if the device failed: nothing more can be run on it before Backend::recover().
  bool run(std::span<const float> data, conv::Demand demand, Row& row) {
    input_.write(data);
    output_.poison();
    if (variant_.set_mask) {
      const auto set = [&] { return variant_.set_mask(mask_.data(), shape_.mask_width); };
      const Observation seen = backend_.run(set);
      if (!seen.error.empty()) {
        add_failure(row.check, where_, "setting the mask: " + seen.error);
        return false;
      }
    }
    Conv1dCall call;
    static_cast<Conv1dShape&>(call) = shape_;
    call.input = input_.data();
    call.mask = device_mask_.data();
    call.output = output_.data();
    seen_ = backend_.run([&] { return variant_.launch(call); });
    for (Hazard& hazard : seen_.hazards) {
      name_from_root(hazard.file);
      name_from_root(hazard.other_file);
      add_hazard(row.hazards, where_, hazard);
    }
    if (!seen_.error.empty()) {
      add_failure(row.check, where_, seen_.error);
      return false;
    }
    compare(data, demand, row);
    return true;
  }

  const Conv1dShape& shape() const { return shape_; }
  const std::string& where() const { return where_; }
  const Observation& seen() const { return seen_; }
  std::vector<float>& result() { return result_; }

 private:
  // The compiler names files from the build folder; readers know them from the project's root.
  void name_from_root(std::string& file) const {
    if (file.ends_with("/" + variant_.source)) file = variant_.source;
  }

  void compare(std::span<const float> data, conv::Demand demand, Row& row) {
    output_.read(result_);
    const conv::Comparison comparison = conv::check(problem_, data, mask_, result_, demand);
    if (demand == conv::Demand::bounded) {
      row.check.worst_share = std::max(row.check.worst_share, comparison.worst_share);
    }
    if (!comparison.passed()) add_failure(row.check, where_, comparison.describe());
    require_unchanged(input_, data, "input", row);
    require_unchanged(device_mask_, mask_, "mask", row);
    for (const auto& [array, name] : {std::pair{&output_, "output"}, std::pair{&input_, "input"},
                                      std::pair{&device_mask_, "mask"}}) {
      const std::string stray = array->stray_write(name);
      if (stray.empty()) continue;
      add_hazard(row.hazards, where_, stray_write(variant_, name, stray));
      add_failure(row.check, where_, stray);
    }
  }

  void require_unchanged(const Array& array, std::span<const float> values, const char* name,
                         Row& row) {
    copy_.resize(values.size());
    array.read(copy_);
    // Bit by bit: a NaN that was written must show.
    if (std::memcmp(copy_.data(), values.data(), values.size_bytes()) == 0) return;
    std::size_t at = 0;
    while (std::memcmp(&copy_[at], &values[at], sizeof(float)) == 0) ++at;
    const std::string what =
        std::string("the ") + name + " was changed, at " + name + "[" + std::to_string(at) + "]";
    add_failure(row.check, where_, what);
    add_hazard(row.hazards, where_, stray_write(variant_, name, what));
  }

  const Conv1dVariant& variant_;
  Backend& backend_;
  const conv::Problem1d& problem_;
  std::span<const float> mask_;
  Conv1dShape shape_;
  std::string where_;
  Array device_mask_;
  Array input_;
  Array output_;
  std::vector<float> result_;
  std::vector<float> copy_;
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
    ++row.check.shapes;
    ++seed;
    bool alive = true;
    try {
      const auto exact_mask = conv::exact_mask(problem, seed);
      Trial exact(variant, backend, problem, exact_mask, trial.threads);
      alive = exact.run(conv::exact_input(problem, seed), conv::Demand::exact, row);
      if (alive) {
        const auto mask = conv::adversarial_mask(problem, seed);
        Trial bounded(variant, backend, problem, mask, trial.threads);
        alive = bounded.run(conv::adversarial_input(problem, seed), conv::Demand::bounded, row);
      }
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
  const conv::Problem1d& problem = workload.problem;
  std::vector<simt::Counters> channel_counters;
  bool alive = true;
  const Conv1dShape shape = shape_of(problem, workload.threads);
  try {
    Trial trial(variant, backend, problem, workload.mask, workload.threads);
    for (const std::vector<float>& channel : workload.channels) {
      ++row.check.shapes;
      alive = trial.run(channel, conv::Demand::bounded, row);
      if (!alive) break;
      channel_counters.push_back(trial.seen().counters);
      if (outputs != nullptr) outputs->push_back(trial.result());
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
