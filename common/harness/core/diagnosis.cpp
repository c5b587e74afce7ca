#include "common/harness/core/diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "common/conv/pattern.hpp"
#include "common/harness/core/check.hpp"
#include "common/harness/course.hpp"
#include "common/harness/program_options.hpp"
#include "common/report/command_line.hpp"
#include "common/report/row_stream.hpp"

namespace halo {

namespace {

constexpr std::size_t kMostCells = 1 << 18;  // of a problem whose outputs are looked at one by one
constexpr std::chrono::seconds kLongest{1};

std::string figure(double value, int digits) {
  if (std::isnan(value)) return "nan";  // of either sign
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// The order in which problems are read with least effort.
bool is_smaller(const Attempt& a, const Attempt& b) {
  if (a.on != b.on) return a.on < b.on;
  const auto size = [](const Attempt& one) {
    std::int64_t cells = one.problem->output_size();
    for (const std::int64_t input : one.problem->input_sizes()) cells += input;
    return cells;
  };
  return size(a) < size(b);
}

std::string where(const Attempt& attempt) {
  return attempt.problem->describe() + (attempt.on == TrialOn::tiny_gpu ? " on a tiny GPU"
                                        : attempt.on == TrialOn::some_blocks
                                            ? ", a few of its blocks"
                                            : "");
}

// What each cell should be, as the judge knows it. Nothing if that would take long.
std::optional<conv::WrongOutputs> judged(const AnyProblem& problem, const Judge& judge,
                                         conv::Layout layout, std::vector<float>& outputs) {
  const auto start = std::chrono::steady_clock::now();
  conv::WrongOutputs all;
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t cell = 0; cell < outputs.size(); ++cell) {
    // No number is right, so that the judge says what was expected.
    const conv::Comparison one = judge(static_cast<std::int64_t>(cell), {&nothing, 1});
    const bool known = !one.worst.empty() && one.worst.front().fault == conv::Fault::wrong;
    all.expected.push_back(known ? one.worst.front().expected : 0);
    all.bound.push_back(known ? one.worst.front().bound : 0);
    // A NaN that is right, or a cell that is to be left alone: not looked at.
    if (!known) outputs[cell] = 0;
    if (cell % 64 == 0 && std::chrono::steady_clock::now() - start > kLongest) return {};
  }
  all.found = outputs;
  all.axes = problem.output_axes(layout);
  all.periods = problem.periods();
  return all;
}

void tell_numbers(const About& variant, const AnyProblem& problem, const Dataset& data,
                  std::vector<float> outputs, Diagnosis& diagnosis) {
  if (outputs.size() != static_cast<std::size_t>(problem.output_size()) ||
      outputs.size() > kMostCells) {
    return;
  }
  const std::vector<float> as_found = outputs;
  const auto all = judged(problem, judge_of(data, variant), variant.layout, outputs);
  if (!all) return;
  for (std::size_t cell = 0; cell < outputs.size(); ++cell) {
    if (!conv::is_wrong(*all, cell)) continue;
    diagnosis.place = conv::place_of(all->axes, static_cast<std::int64_t>(cell));
    const double found = outputs[cell];
    diagnosis.found = figure(found, 6);
    diagnosis.expected = figure(all->expected[cell], 6);
    if (diagnosis.found == diagnosis.expected) {
      diagnosis.found = figure(found, 9);
      diagnosis.expected = figure(all->expected[cell], 12);
    }
    if (conv::is_poison(outputs[cell])) diagnosis.found = "never written";
    diagnosis.origin = problem.origin(static_cast<std::int64_t>(cell));
    break;
  }
  if (diagnosis.place.empty()) return;
  diagnosis.pattern = conv::recognise(*all);
  const DatasetPtr turned = problem.turned(data);
  if (!turned) return;
  const conv::Comparison mirrored = judge_of(*turned, variant)(0, as_found);
  if (mirrored.passed() && outputs.size() > 1) {
    diagnosis.pattern = "right for the " + data.inputs().at(1).name +
                        " turned round: a convolution is no correlation";
  }
}

}  // namespace

std::string name_of(const DataKind& kind) {
  if (kind.of == DataKind::Of::exact) return "exact";
  const std::string number = std::to_string(kind.number);
  if (kind.of == DataKind::Of::special) return "special:" + number;
  return kind.of == DataKind::Of::edges ? "edges:" + number : "";
}

DataKind parse_data_kind(const std::string& text) {
  if (text.empty() || text == "ordinary") return {};
  if (text == "exact") return {DataKind::Of::exact};
  for (const auto& [word, of] : {std::pair(std::string("edges:"), DataKind::Of::edges),
                                 std::pair(std::string("special:"), DataKind::Of::special)}) {
    if (!text.starts_with(word)) continue;
    return {of, static_cast<int>(parse_number("data", text.substr(word.size()), 1, 100))};
  }
  throw UsageError("--data: '" + text + "' is not one of ordinary, exact, edges:N, special:N");
}

std::string kind_of_wrong(const std::vector<Attempt>& attempts) {
  const std::size_t wrong = static_cast<std::size_t>(std::count_if(
      attempts.begin(), attempts.end(), [](const Attempt& one) { return one.wrong; }));
  // One shape alone has many words in common with itself.
  if (wrong < 2 || attempts.size() < 3) return {};
  // Among a few, some words always fit by chance: it takes as many ways to choose the wrong ones as six of twelve have.
  constexpr double kFewestWays = 924;
  double ways = 1;
  for (std::size_t i = 0; i < std::min(wrong, attempts.size() - wrong); ++i) {
    ways *= static_cast<double>(attempts.size() - i) / static_cast<double>(i + 1);
  }
  if (ways < kFewestWays - 0.5) return {};
  // Each trait and its opposite, with the problems that have it.
  struct Words {
    std::string text;
    std::vector<bool> has;
  };
  std::vector<Words> all;
  const std::size_t count = attempts.front().problem->traits().size();
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), 2, {});
  for (const Attempt& attempt : attempts) {
    const std::vector<Trait> traits = attempt.problem->traits();
    for (std::size_t i = 0; i < count; ++i) {
      all[2 * i].text = traits[i].is;
      all[2 * i + 1].text = traits[i].is_not;
      all[2 * i].has.push_back(traits[i].has);
      all[2 * i + 1].has.push_back(!traits[i].has);
    }
  }
  // How many of the right ones have it, if all of the wrong ones do; -1 otherwise.
  const auto right_with = [&](const std::function<bool(std::size_t)>& has) {
    int right = 0;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (attempts[i].wrong && !has(i)) return -1;
      right += !attempts[i].wrong && has(i);
    }
    return right;
  };
  const int all_right = static_cast<int>(attempts.size() - wrong);
  const Words* best = nullptr;
  int least = all_right;
  for (const Words& words : all) {
    const int right = right_with([&](std::size_t i) { return words.has[i]; });
    if (right < 0 || right >= least) continue;
    least = right;
    best = &words;
  }
  if (best != nullptr && least == 0) {
    const std::size_t index = static_cast<std::size_t>(best - all.data());
    if (2 * wrong > attempts.size()) return "right: " + all[index ^ 1].text + " only";
    return "wrong: " + best->text + " only";
  }
  for (const Words& one : all) {
    for (const Words& other : all) {
      if (&one >= &other) continue;
      if (right_with([&](std::size_t i) { return one.has[i] && other.has[i]; }) == 0) {
        return "wrong: " + one.text + " and " + other.text + " only";
      }
    }
  }
  if (best == nullptr) return {};
  return "wrong only with " + best->text + ", and right with " + std::to_string(least) +
         " of those";
}

namespace {

// "./halo run 04 --on sim --variant tiled".
std::string run_of(const Row& row) {
  const std::string number = row.stage.substr(0, 2);
  const auto same = std::count_if(course().begin(), course().end(), [&](const CourseStage& stage) {
    return stage.name.starts_with(number);
  });
  // What the simulator found a GPU may not.
  return "./halo run " + (same == 1 ? number : row.stage) +
         (row.backend == "sim" ? " --on sim" : "") + " --variant " + row.variant;
}

bool has_command(const Row& row) { return row.role == Role::variant && row.stage.size() >= 2; }

}  // namespace

std::string command_of(const Row& row, std::uint64_t seed) {
  return has_command(row) ? run_of(row) + " --seed " + std::to_string(seed) : "";
}

std::string command_of(const Row& row, const Attempt& attempt, const DataKind& kind) {
  const std::string options = attempt.problem->options();
  if (options.empty() || attempt.given || !has_command(row)) return {};
  std::string family;
  for (const CourseStage& stage : course()) {
    if (stage.name == row.stage) family = stage.family;
  }
  // A network's small problems are layers, which its program cannot be asked for.
  const std::string option = options.substr(0, options.find(' '));
  const auto& all = program_options();
  const bool takes =
      family.empty() || std::any_of(all.begin(), all.end(), [&](const auto& one) {
        return one.name == option &&
               std::find(one.families.begin(), one.families.end(), family) != one.families.end();
      });
  if (!takes) return {};
  const std::string data = name_of(kind);
  // It is always the last of the trials.
  if (attempt.on == TrialOn::some_blocks) return run_of(row);
  return run_of(row) + " " + options + (data.empty() ? "" : " --data " + data) +
         (attempt.on == TrialOn::tiny_gpu ? " --tiny-gpu" : "") + " --no-trials --seed " +
         std::to_string(attempt.seed);
}

void tell_begin(const Row& row, const std::string& problem, const std::string& again) {
  if (!RowStream::to_starter().open()) return;
  Row begun;
  begun.stage = row.stage;
  begun.backend = row.backend;
  begun.variant = row.variant;
  begun.source = row.source;
  begun.role = row.role;
  begun.problem = row.problem;
  begun.label = row.label;
  begun.check.diagnosis.smallest = problem;
  begun.check.diagnosis.again = again;
  RowStream::to_starter().begin(begun);
}

void diagnose(const About& variant, const std::vector<Attempt>& attempts,
              const std::function<bool(const DataKind&)>& suits, const Rerun& rerun, Row& row) {
  const Attempt* smallest = nullptr;
  Diagnosis diagnosis;
  for (const Attempt& attempt : attempts) {
    ++diagnosis.tried;
    if (!attempt.wrong) continue;
    ++diagnosis.wrong;
    if (smallest == nullptr || is_smaller(attempt, *smallest)) smallest = &attempt;
  }
  if (smallest == nullptr) return;
  diagnosis.smallest = where(*smallest);
  // A few outputs have no pattern: that of the smallest that has many, and several blocks of them, is told
  // as well.
  constexpr std::int64_t kMany = 48;
  const auto tells = [](const Attempt& attempt) {
    const AnyProblem& problem = *attempt.problem;
    if (problem.output_size() < kMany) return 0;
    const std::vector<conv::Period> periods = problem.periods();
    const std::int64_t across = problem.output_axes(conv::Layout::nchw).back().size;
    return !periods.empty() && periods.front().size > 1 && across > 2 * periods.front().size ? 2
                                                                                             : 1;
  };
  const Attempt* telling = nullptr;
  for (const Attempt& attempt : attempts) {
    if (!attempt.wrong || tells(attempt) == 0) continue;
    const int more = telling == nullptr ? 1 : tells(attempt) - tells(*telling);
    if (more > 0 || (more == 0 && is_smaller(attempt, *telling))) telling = &attempt;
  }
  diagnosis.kind = kind_of_wrong(attempts);
  std::vector<DataKind> kinds;
  for (const DataKind& kind : smallest->problem->kinds()) {
    if (suits(kind)) kinds.push_back(kind);
  }
  if (smallest->given || kinds.empty()) kinds = {{}};
  diagnosis.again = command_of(row, *smallest, kinds.front());
  // Runs it with each kind until it fails.
  const auto again = [&](const Attempt& attempt, Diagnosis& told) {
    for (const DataKind& kind : kinds) {
      const DatasetPtr data =
          attempt.given ? attempt.given : attempt.problem->data(kind, attempt.seed);
      Row once;
      std::vector<float> outputs;
      try {
        rerun(attempt, *data, once, outputs);
      } catch (const std::runtime_error&) {
        return;
      }
      const bool wrong = once.check.outcome == Outcome::bad;
      if (!wrong && once.hazards.outcome != Outcome::bad) continue;
      told.again = command_of(row, attempt, kind);
      if (wrong) tell_numbers(variant, *attempt.problem, *data, std::move(outputs), told);
      return;
    }
  };
  if (rerun) again(*smallest, diagnosis);
  if (rerun && telling != nullptr && telling != smallest) {
    Diagnosis many;
    again(*telling, many);
    if (!many.pattern.empty() && many.pattern != diagnosis.pattern) {
      diagnosis.pattern = "with " + telling->problem->describe() + ": " + many.pattern;
    }
  }
  row.check.diagnosis = std::move(diagnosis);
}

}  // namespace halo
