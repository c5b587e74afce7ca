// Verification and traffic of the 1D family.
#include <algorithm>
#include <cstring>
#include <optional>

#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"
#include "common/harness/conv1d.hpp"
#include "common/harness/conv1d_arrays.hpp"
#include "common/harness/verify.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

std::string describe(const conv::Problem1d& problem, int threads) {
  std::string text = "length " + with_commas(problem.length()) + ", mask " +
                     std::to_string(problem.mask_width()) + ", " + std::to_string(threads) +
                     (threads == 1 ? " thread" : " threads");
  if (problem.border() == conv::Border::report) text += ", the report's border";
  return text;
}

// A copy has the input where a convolution has its outputs, bit for bit.
conv::Comparison judge_copy(const conv::Problem1d& problem, std::size_t first,
                            std::span<const float> cells, std::span<const float> data) {
  conv::Comparison comparison;
  comparison.compared = static_cast<std::int64_t>(cells.size());
  const auto begin = static_cast<std::size_t>(problem.first_output());
  const auto end = static_cast<std::size_t>(problem.end_output());
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

// One launch on the data that are in arrays.input. With `result` the whole output is kept there.
bool try_once(const Conv1dVariant& variant, Backend& backend, const conv::Problem1d& problem,
              std::span<const float> mask, Conv1dArrays& arrays, std::span<const float> data,
              conv::Demand demand, std::int64_t period, Row& row, Observation* seen = nullptr,
              std::vector<float>* result = nullptr) {
  Verified verified;
  verified.where = describe(problem, arrays.call.threads);
  verified.source = variant.source;
  verified.kept = {{"input", &arrays.input, data}, {"mask", &arrays.mask, mask}};
  verified.output = &arrays.output;
  if (variant.set_mask) {
    verified.set_up_name = "setting the mask";
    verified.set_up = [&] { return variant.set_mask(mask.data(), problem.mask_width()); };
  }
  verified.launch = [&] { return variant.launch(arrays.call); };
  if (variant.role == Role::peer) {
    verified.unsupported = [&] {
      return variant.detail ? variant.detail() : "it does not support this shape";
    };
  }
  std::optional<conv::Checker> checker;
  verified.judge = [&](std::size_t first, std::span<const float> cells) {
    if (variant.role == Role::copy) return judge_copy(problem, first, cells, data);
    if (!checker) checker.emplace(problem, data, mask, demand, period);
    return checker->judge(static_cast<std::int64_t>(first), cells);
  };
  verified.exact = demand == conv::Demand::exact;
  if (result != nullptr) {
    result->reserve(data.size());
    verified.keep = [&](std::span<const float> cells) {
      result->insert(result->end(), cells.begin(), cells.end());
    };
  }
  return verify(verified, backend, row, seen);
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
        return try_once(variant, backend, problem, mask, arrays, input, demand, 0, row);
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
  settle(variant.uncounted, backend, row);
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
    for (const std::vector<float>& channel : workload.channels) {
      if (!loaded) arrays.input.write(channel);
      loaded = workload.channels.size() == 1;
      std::vector<float> result;
      Observation seen;
      alive =
          try_once(variant, backend, problem, workload.mask, arrays, channel, conv::Demand::bounded,
                   workload.period, row, &seen, outputs == nullptr ? nullptr : &result);
      if (!alive) break;
      channel_counters.push_back(seen.counters);
      if (outputs != nullptr) outputs->push_back(std::move(result));
    }
  } catch (const std::runtime_error& error) {
    add_failure(row.check, describe(problem, workload.threads), error.what());
    alive = false;
  }
  if (!alive) repair(backend, row);
  settle(variant.uncounted, backend, row);
  // Every channel is the same work.
  std::function<simt::Counters()> predict;
  if (variant.predict) predict = [&] { return variant.predict(shape); };
  compare_traffic(variant.uncounted, backend, alive, predict, channel_counters,
                  shape.last - shape.first, describe(problem, workload.threads), row);
}

}  // namespace halo
