#include "common/harness/operation_candidates.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "common/harness/candidates.hpp"

namespace halo {

namespace {

constexpr std::int64_t kFloat = sizeof(float);

std::int64_t call_bytes(const AnyProblem& problem) {
  return kFloat * (problem.input_size() + problem.output_size());
}

// What the candidates of one problem share.
class Group {
 public:
  Group(Backend& backend, const AnyTask& task) : backend_(backend), task_(task) {}

  // The variant will be timed: there must be room for its temporaries.
  void expect(const AnyVariant& variant) {
    most_floats_ = std::max(most_floats_, workspace_floats(variant, *task_.problem));
  }

  void check(const AnyVariant& variant, Row& row) {
    try {
      require_arrays(variant.layout);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, task_.problem->describe(), error.what());
      drop();
      return;
    }
    check_problem(variant, backend_, *task_.problem, inputs_.at(variant.layout), *output_, row);
    if (row.check.outcome == Outcome::good && variant.detail) {
      row.detail = variant.detail(*task_.problem);
    }
    // What failed may have taken the device's memory with it.
    if (row.check.outcome == Outcome::bad) drop();
  }

  std::unique_ptr<Batch> batch(const AnyVariant& variant, int calls, Cache cache) {
    require_arrays(variant.layout);
    float* workspace = nullptr;
    if (workspace_floats(variant, *task_.problem) > 0) {
      if (!workspace_) workspace_.emplace(backend_, static_cast<std::size_t>(most_floats_));
      workspace = workspace_->data();
    }
    if (cache == Cache::hot) {
      return backend_.batch(
          [this, variant, workspace](int) {
            return variant.launch({*task_.problem, inputs_.at(variant.layout).array.data(),
                                   output_->data(), workspace});
          },
          calls);
    }
    Sets& inputs = cold_input(variant.layout);
    if (!cold_output_) cold_output_.emplace(backend_, *output_, cold_sets());
    return backend_.batch(
        [this, variant, workspace, &inputs](int call) {
          const int set = call % cold_sets();
          return variant.launch(
              {*task_.problem, inputs.set(set), cold_output_->set(set), workspace});
        },
        calls);
  }

  // Sets of arrays that are used in turn with a cold cache; see Candidate::cold_calls.
  int cold_sets() const { return halo::cold_sets(backend_, call_bytes(*task_.problem)); }

 private:
  void require_arrays(conv::Layout layout) {
    if (!inputs_.contains(layout)) {
      inputs_.try_emplace(layout, backend_, *task_.problem, layout, 0, task_.seed);
    }
    if (!output_) {
      output_.emplace(backend_, static_cast<std::size_t>(task_.problem->output_size()));
    }
  }
  Sets& cold_input(conv::Layout layout) {
    AnyInput& input = inputs_.at(layout);
    const auto [found, is_new] =
        cold_inputs_.try_emplace(layout, backend_, input.array, cold_sets());
    for (int set = 0; is_new && set < cold_sets(); ++set) {
      found->second.write({"input", &input.array, input.values}, set);
    }
    return found->second;
  }
  void drop() {
    inputs_.clear();
    output_.reset();
    workspace_.reset();
    cold_inputs_.clear();
    cold_output_.reset();
  }

  Backend& backend_;
  AnyTask task_;
  std::map<conv::Layout, AnyInput> inputs_;
  std::optional<Array> output_;
  // Timed calls follow one another, so they share it. (In checks each has its own.)
  std::optional<Array> workspace_;
  std::int64_t most_floats_ = 0;
  std::map<conv::Layout, Sets> cold_inputs_;
  std::optional<Sets> cold_output_;
};

// Empty if backend and machine have room for the problem in so many layouts (without workspaces), else
// why not.
std::string too_large_for(const AnyProblem& problem, Backend& backend, std::int64_t layouts) {
  if (backend.observes()) {
    return too_large_for_simulator(problem.input_size() + problem.output_size() + problem.flops(),
                                   "cells and operations");
  }
  const std::int64_t bytes = kFloat * (layouts * problem.input_size() + problem.output_size());
  std::int64_t on_host = kFloat * layouts * problem.input_size();
  if (backend.name() == "cpu") on_host += bytes;
  return too_large_for_memory(problem.describe(), on_host, bytes, backend);
}

// Why this variant does not run this problem; empty if it does.
std::string not_for(const AnyVariant& variant, const AnyProblem& problem,
                    const std::string& too_large, Backend& backend) {
  if (!variant.unavailable.empty()) return variant.unavailable;
  if (std::string reason = refusal(variant, problem); !reason.empty()) return reason;
  if (!too_large.empty()) return too_large;
  const std::int64_t floats = workspace_floats(variant, problem);
  if (floats == 0) return {};
  return too_large_for_memory("its workspace for " + problem.describe(), 0,
                              call_bytes(problem) + kFloat * floats, backend);
}

}  // namespace

void add_candidates(std::vector<Candidate>& candidates, const std::vector<AnyEntry>& entries,
                    Backend& backend, const AnyTask& task) {
  const AnyProblem& problem = *task.problem;
  std::set<conv::Layout> layouts;
  for (const AnyEntry& entry : entries) layouts.insert(entry.variant.layout);
  const std::string too_large =
      too_large_for(problem, backend, static_cast<std::int64_t>(layouts.size()));
  const auto group = std::make_shared<Group>(backend, task);
  for (const auto& [stage, variant, tried] : entries) {
    Candidate candidate;
    Row& row = candidate.row;
    row.stage = stage;
    row.backend = backend.name();
    row.variant = variant.name;
    row.source = variant.source;
    row.description = variant.description;
    row.role = variant.role;
    if (variant.layout != conv::Layout::nchw) row.layout = conv::to_string(variant.layout);
    row.problem = problem.fields();
    row.label = problem.label();
    row.time.reason = backend.no_time_reason();
    const std::string reason = not_for(variant, problem, too_large, backend);
    if (reason.empty()) group->expect(variant);
    // A copy computes nothing; a library is judged on the problem that it is timed on.
    const auto trials =
        variant.role == Role::variant && !tried ? task.trials : std::vector<AnyProblemPtr>{};
    candidate.check = [&backend, group, variant = variant, reason, trials, seed = task.seed](
                          Row& checked, Progress& progress) {
      std::function<void()> try_small;
      if (!trials.empty() && variant.unavailable.empty()) {
        try_small = [&] { check_problems(variant, backend, trials, seed, checked, progress); };
      }
      check_candidate(checked, progress, reason, try_small,
                      [&] { group->check(variant, checked); });
    };
    if (reason.empty() && backend.times()) {
      candidate.min_bytes = static_cast<double>(problem.min_bytes());
      candidate.flops = variant.role == Role::copy ? 0 : static_cast<double>(problem.flops());
      candidate.batch = [group, variant = variant](int calls, Cache cache) {
        return group->batch(variant, calls, cache);
      };
      candidate.cold_calls = [group] { return group->cold_sets(); };
      if (variant.detail) {
        candidate.detail = [variant = variant, problem = task.problem] {
          return variant.detail(*problem);
        };
      }
    }
    candidates.push_back(std::move(candidate));
  }
}

}  // namespace halo
