// Verification and traffic of transforms, pooling and softmax.
#include <cstring>
#include <optional>
#include <stdexcept>

#include "common/harness/operation_any.hpp"
#include "common/harness/verify.hpp"

namespace halo {

namespace {

// A copy's outputs are its inputs, bit for bit.
conv::Comparison judge_copy(std::int64_t first, std::span<const float> outputs,
                            const std::vector<float>& input) {
  conv::Comparison comparison;
  comparison.judge_bits_run(first, outputs, &input[static_cast<std::size_t>(first)]);
  return comparison;
}

// One launch.
bool try_once(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
              AnyInput& input, Array& output, Row& row, Observation* seen = nullptr) {
  AnyCall call{problem, input.array.data(), output.data(), nullptr};
  // Of exactly the size that was asked for, so that a write beyond it shows.
  std::optional<Array> workspace;
  if (const std::int64_t floats = workspace_floats(variant, problem); floats > 0) {
    workspace.emplace(backend, static_cast<std::size_t>(floats));
    call.workspace = workspace->data();
  }
  Verified verified;
  verified.where = problem.describe();
  verified.source = variant.source;
  verified.kept = {{"input", &input.array, input.values}};
  verified.output = &output;
  verified.workspace = workspace ? &*workspace : nullptr;
  verified.launch = [&] { return variant.launch(call); };
  if (variant.role == Role::peer) {
    verified.unsupported = [&] {
      return variant.detail ? variant.detail(problem) : "it does not support this problem";
    };
  }
  verified.judge = [&](std::size_t first, std::span<const float> cells) {
    const auto from = static_cast<std::int64_t>(first);
    return variant.role == Role::copy ? judge_copy(from, cells, input.values)
                                      : input.judge(from, cells);
  };
  return verify(verified, backend, row, seen);
}

}  // namespace

std::string refusal(const AnyVariant& variant, const AnyProblem& problem) {
  if (variant.role == Role::copy && problem.input_size() != problem.output_size()) {
    return "input and output differ in size: no copy of one onto the other moves as much";
  }
  return variant.refuses ? variant.refuses(problem) : "";
}

std::int64_t workspace_floats(const AnyVariant& variant, const AnyProblem& problem) {
  return variant.workspace_floats ? variant.workspace_floats(problem) : 0;
}

AnyInput::AnyInput(Backend& backend, const AnyProblem& problem, conv::Layout layout, int kind,
                   std::uint64_t seed)
    : values(problem.make_input(layout, kind, seed)),
      array(backend, values.size()),
      judge(problem.judge(layout, values)) {
  array.write(values);
}

void check_problems(const AnyVariant& variant, Backend& backend,
                    const std::vector<AnyProblemPtr>& problems, std::uint64_t seed, Row& row,
                    Progress& progress) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = variant.unavailable;
    return;
  }
  for (const AnyProblemPtr& problem : problems) {
    progress.show(row.stage + " " + row.variant + ": problem " +
                  std::to_string(row.check.shapes + 1) + " of " + std::to_string(problems.size()));
    ++seed;
    if (!refusal(variant, *problem).empty()) continue;
    const int shapes = row.check.shapes;
    bool alive = true;
    try {
      for (int kind = 0; kind < problem->input_kinds() && alive; ++kind) {
        const bool at_the_edges = kind > 0;
        if (at_the_edges && variant.differs && !variant.differs(*problem).empty()) break;
        AnyInput input(backend, *problem, variant.layout, kind, seed);
        Array output(backend, static_cast<std::size_t>(problem->output_size()));
        alive = try_once(variant, backend, *problem, input, output, row);
      }
      row.check.shapes = shapes + 1;
    } catch (const std::runtime_error& error) {
      add_failure(row.check, problem->describe(), error.what());
      alive = false;
    }
    if (!alive) {
      repair(backend, row);
      break;
    }
  }
  settle(variant.uncounted, backend, row);
}

void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   std::uint64_t seed, Row& row) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = row.traffic.reason = variant.unavailable;
    return;
  }
  try {
    AnyInput input(backend, problem, variant.layout, 0, seed);
    Array output(backend, static_cast<std::size_t>(problem.output_size()));
    check_problem(variant, backend, problem, input, output, row);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, problem.describe(), error.what());
    repair(backend, row);
  }
}

void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   AnyInput& input, Array& output, Row& row) {
  Observation seen;
  bool alive = true;
  try {
    alive = try_once(variant, backend, problem, input, output, row, &seen);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, problem.describe(), error.what());
    alive = false;
  }
  if (!alive) repair(backend, row);
  settle(variant.uncounted, backend, row);
  std::function<simt::Counters()> predict;
  if (variant.predict) predict = [&] { return variant.predict(problem); };
  compare_traffic(variant.uncounted, backend, alive, predict, {seen.counters},
                  static_cast<double>(problem.output_size()), problem.describe(), row);
}

}  // namespace halo
