#include "common/harness/core/check.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>

#include "common/harness/core/diagnosis.hpp"
#include "common/harness/core/guarded_values.hpp"
#include "common/harness/core/some_blocks.hpp"

namespace halo {

namespace {

// Whether the variant is tried with this kind.
bool suits(const DataKind& kind, const AnyPrepared& variant) {
  switch (kind.of) {
    case DataKind::Of::exact:
      // Whole numbers come out exactly only where nothing but sums of products is computed.
      return variant.demand == conv::Demand::bounded;
    case DataKind::Of::edges:
      return !variant.differs || variant.differs().empty();
    case DataKind::Of::special:
      return variant.role == Role::variant && variant.demand == conv::Demand::bounded &&
             (kind.number == 1 || (kind.number == 3) == variant.multiplies_ghosts);
    default:
      return true;
  }
}

// One launch on the data. `where`: the problem, in words.
bool try_once(const AnyPrepared& variant, Backend& backend, const AnyProblem& problem,
              const std::string& where, const Dataset& data,
              const std::function<const Judge&()>& judge, ProblemArrays& arrays, Row& row,
              Observation& seen, std::vector<float>* outputs = nullptr) {
  arrays.hold(data, variant.layout);
  AnyCall call = arrays.call(variant.layout);
  // Of exactly the size that was asked for, so that a write beyond it shows.
  std::optional<Array> workspace;
  if (const std::int64_t floats = variant.workspace_floats; floats > 0) {
    workspace.emplace(backend, static_cast<std::size_t>(floats));
    call.workspace = workspace->data();
  }
  Verified verified;
  if (const std::int64_t floats = variant.packed_floats; floats > 0) {
    verified.packed = &arrays.packed(floats);
    call.packed = verified.packed->data();
    verified.pack = [&] { return variant.pack(call.inputs[1], verified.packed->data()); };
  }
  verified.where = where;
  verified.source = variant.source;
  verified.kept = arrays.kept(variant.layout);
  verified.output = &arrays.output();
  verified.workspace = workspace ? &*workspace : nullptr;
  std::optional<GuardedValues> weights;
  if (variant.set_up) {
    const InputValues& given = data.inputs().at(1);
    weights.emplace(given.values, static_cast<std::size_t>(given.size));
    verified.set_up_name = "setting the " + given.name;
    verified.set_up = [&] {
      int error = 0;
      if (weights->reads_beyond([&] { error = variant.set_up(weights->data()); })) {
        verified.set_up_misread = given.name;
      }
      return error;
    };
  }
  verified.launch = [&] { return variant.launch(call); };
  if (variant.role == Role::peer || variant.role == Role::beside) {
    verified.unsupported = [&] {
      return variant.detail ? variant.detail() : "it does not support this problem";
    };
  }
  verified.judge = [&](std::size_t first, std::span<const float> cells) {
    return judge()(static_cast<std::int64_t>(first), cells);
  };
  verified.exact = data.exact();
  if (!data.exact() && variant.role != Role::copy) {
    verified.arithmetic = conv::arithmetic_of(variant.demand);
  }
  if (outputs != nullptr) {
    outputs->reserve(static_cast<std::size_t>(problem.output_size()));
    verified.keep = [&](std::span<const float> cells) {
      outputs->insert(outputs->end(), cells.begin(), cells.end());
    };
  }
  return verify(verified, backend, row, &seen);
}

// Calls that may begin before the ones before them have ended: each reads what the last wrote. They must
// leave what the same calls leave one after the other, bit for bit. (The simulator's do, but it finds what one
// touches that an earlier one may not be done with.) `where`: the problem, in words. False if the device failed.
bool try_overlapped(const AnyPrepared& variant, Backend& backend, const AnyProblem& problem,
                    const std::string& where, ProblemArrays& arrays, Row& row) {
  const int calls = backend.observes() ? 3 : 6;
  constexpr std::size_t kMostCells = std::size_t{1}
                                     << 25;  // a launch that is early shows with fewer
  const auto outputs = static_cast<std::size_t>(problem.output_size());
  const auto inputs = static_cast<std::size_t>(problem.input_sizes().front());
  if (std::max(inputs, outputs) > kMostCells) return true;
  std::vector<float> cells(std::max(inputs, outputs), 0.0f);
  arrays.kept(variant.layout).front().array->read(std::span(cells).first(inputs));
  std::optional<Array> workspace;
  if (const std::int64_t floats = variant.workspace_floats; floats > 0) {
    workspace.emplace(backend, static_cast<std::size_t>(floats));
  }
  // Both are inputs and outputs in turn.
  Array turns[2] = {{backend, cells.size()}, {backend, cells.size()}};
  for (Array& turn : turns) turn.set_name("output, the next call's input");
  std::vector<float> results[2];
  for (const bool overlaps : {false, true}) {
    for (Array& turn : turns) turn.write(cells);
    Observation seen = backend.run([&] {
      AnyCall call = arrays.call(variant.layout);
      if (const std::int64_t floats = variant.packed_floats; floats > 0) {
        call.packed = arrays.packed(floats).data();
      }
      if (workspace) call.workspace = workspace->data();
      call.overlaps = overlaps;
      int error = 0;
      for (int i = 0; i < calls && error == 0; ++i) {
        call.inputs[0] = turns[i % 2].data();
        call.output = turns[1 - i % 2].data();
        error = variant.launch(call);
      }
      return error;
    });
    add_seen(variant.source, where + ", overlapped calls", seen, row);
    if (!seen.error.empty()) {
      add_failure(row.check, where + ", overlapped calls", seen.error);
      return false;
    }
    std::vector<float>& result = results[overlaps];
    for (Array& turn : turns) {
      result.resize(result.size() + cells.size());
      turn.read(std::span(result).last(cells.size()));
    }
  }
  if (std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)) != 0) {
    add_failure(row.check, where,
                "calls that overlap leave other outputs than the same calls one after the other");
  }
  return true;
}

// A launch of a trial that is not what was predicted. One that is says nothing yet. `predicted` is kept
// for the problem's other data, which cost the same.
void require_traffic(const AnyPrepared& variant, const Backend& backend, const AnyProblem& problem,
                     const std::string& where, const Observation& seen,
                     std::optional<Cost>& predicted, Row& row) {
  if (!backend.not_counted().empty() || !variant.cost) return;
  if (!seen.error.empty() || row.traffic.outcome == Outcome::bad) return;
  if (!predicted) predicted = variant.cost();
  if (as_predicted(seen.cost, *predicted)) return;
  compare_traffic(
      backend, true, [&] { return *predicted; }, {seen},
      static_cast<double>(problem.computed_outputs()), where, row);
}

}  // namespace

namespace {

// What comes of one problem, in a row that may have failed with others before: those are told again once this
// one is over.
class Verdict {
 public:
  explicit Verdict(Row& row) : row_(row), before_(row.check), hazards_(hazards()) {
    row.check.outcome = Outcome::not_run;
  }
  // The row is whole again.
  ~Verdict() {
    if (before_.outcome != Outcome::bad) return;
    row_.check.outcome = Outcome::bad;
    row_.check.reason = before_.reason;
  }
  Verdict(const Verdict&) = delete;
  Verdict& operator=(const Verdict&) = delete;

  // Whether the problem is wrong.
  bool is_bad() const { return row_.check.outcome == Outcome::bad || hazards() > hazards_; }

 private:
  std::uint64_t hazards() const {
    std::uint64_t count = 0;
    for (const Hazard& hazard : row_.hazards.findings) count += hazard.count;
    return count;
  }

  Row& row_;
  Check before_;
  std::uint64_t hazards_;
};

}  // namespace

namespace {

// `ready`: the variant, for the problem of an attempt.
void diagnose(const std::function<AnyPrepared(const Attempt&)>& ready, Backend& backend,
              const std::vector<Attempt>& attempts, bool alive, Row& row) {
  const AnyPrepared variant = ready(attempts.front());
  const auto fits = [&](const DataKind& kind) { return suits(kind, variant); };
  Rerun rerun;
  if (alive) {
    rerun = [&](const Attempt& attempt, const Dataset& data, Row& once,
                std::vector<float>& outputs) {
      const AnyProblem& problem = *attempt.problem;
      std::optional<TinyGpu> tiny;
      if (attempt.on == TrialOn::tiny_gpu) tiny.emplace(backend);
      const AnyPrepared tried = ready(attempt);
      std::optional<Judge> judge;
      const auto judged = [&]() -> const Judge& {
        if (!judge) judge = judge_of(data, tried);
        return *judge;
      };
      ProblemArrays arrays(backend, problem);
      Observation seen;
      if (!try_once(tried, backend, problem, problem.describe(), data, judged, arrays, once, seen,
                    &outputs)) {
        repair(backend, once);
      }
    };
  }
  diagnose(variant, attempts, fits, rerun, row);
}

}  // namespace

void diagnose(const AnyVariant& variant, Backend& backend, const std::vector<Attempt>& attempts,
              bool alive, Row& row) {
  const auto ready = [&](const Attempt& attempt) {
    const bool is_limited = attempt.on == TrialOn::tiny_gpu && variant.limited;
    return (is_limited ? *variant.limited : variant).prepared(*attempt.problem);
  };
  diagnose(ready, backend, attempts, alive, row);
}

void diagnose(const AnyPrepared& variant, Backend& backend, const Attempt& attempt, bool alive,
              Row& row) {
  diagnose([&](const Attempt&) { return variant; }, backend, {attempt}, alive, row);
}

conv::Demand demand_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::transform:
      return conv::Demand::transformed;
    case Arithmetic::tf32:
      return conv::Demand::tf32;
    case Arithmetic::tf32_split:
      return conv::Demand::tf32_split;
    case Arithmetic::transform_split:
      return conv::Demand::transformed_split;
    case Arithmetic::exp2:
      return conv::Demand::exp2;
    case Arithmetic::definition:
      break;
  }
  return conv::Demand::bounded;
}

Judge judge_of(const Dataset& data, const About& variant) {
  if (variant.role == Role::copy) return data.judge_copy();
  return data.judge(variant.layout, data.exact() ? conv::Demand::exact : variant.demand);
}

ProblemArrays::ProblemArrays(Backend& backend, const AnyProblem& problem)
    : backend_(backend),
      problem_(problem),
      output_(backend, static_cast<std::size_t>(problem.output_size())) {
  const std::vector<std::int64_t> sizes = problem.input_sizes();
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    others_.push_back(std::make_unique<Array>(backend, static_cast<std::size_t>(sizes[i])));
  }
}

Array& ProblemArrays::first(conv::Layout layout) {
  First& first = firsts_[layout];
  if (!first.array) {
    first.array =
        std::make_unique<Array>(backend_, static_cast<std::size_t>(problem_.input_sizes().front()));
  }
  return *first.array;
}

void ProblemArrays::hold(const Dataset& data, conv::Layout layout) {
  first(layout);
  const bool is_new = held_ != &data;
  held_ = &data;
  if (is_new) {
    for (auto& [known, first] : firsts_) first.written = false;
  }
  const std::vector<KeptArray> all = kept(layout);
  for (std::size_t i = is_new ? 1 : all.size(); i < all.size(); ++i) write(all[i]);
  First& first = firsts_.at(layout);
  if (!first.written) write(all.front());
  first.written = true;
}

std::vector<KeptArray> ProblemArrays::kept(conv::Layout layout) {
  const std::vector<InputValues>& inputs = held_->inputs();
  std::vector<KeptArray> all = {{inputs.front().name, &first(layout), held_->first_input(layout)}};
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    all.push_back({inputs[i].name, others_[i - 1].get(), inputs[i].values});
  }
  return all;
}

AnyCall ProblemArrays::call(conv::Layout layout) {
  AnyCall call{{first(layout).data()}, output_.data()};
  for (std::size_t i = 0; i < others_.size(); ++i) call.inputs.at(i + 1) = others_[i]->data();
  return call;
}

Array& ProblemArrays::packed(std::int64_t floats) {
  const auto count = static_cast<std::size_t>(floats);
  if (!packed_ || packed_->size() != count) {
    packed_.reset();
    packed_ = std::make_unique<Array>(backend_, count);
  }
  return *packed_;
}

namespace {

// The problem, unless the variant refuses it; with calls that overlap if it `may_overlap`, and once more with bias
// and ReLU if it `may_add_bias`. False if the device failed.
bool try_problem(const AnyVariant& chooser, Backend& backend, const AnyProblem& problem,
                 const std::string& where, std::uint64_t seed, bool may_overlap, bool may_add_bias,
                 Row& row) {
  const AnyPrepared variant = chooser.prepared(problem);
  if (!variant.refusal.empty()) return true;
  const int shapes = row.check.shapes;
  std::optional<Cost> predicted;
  try {
    // Arrays of exactly this problem's size, so that an access beyond them shows. The same for all data: who
    // keeps what an earlier call brought, and knows it by its address, is found out.
    ProblemArrays arrays(backend, problem);
    std::vector<DatasetPtr> all;  // as long as the arrays, which know them by their address too
    for (const DataKind& kind : problem.kinds()) {
      if (!suits(kind, variant)) continue;
      const DatasetPtr data = all.emplace_back(problem.data(kind, seed));
      std::optional<Judge> judge;
      const auto judged = [&]() -> const Judge& {
        if (!judge) judge = judge_of(*data, variant);
        return *judge;
      };
      Observation seen;
      if (!try_once(variant, backend, problem, where, *data, judged, arrays, row, seen)) {
        return false;
      }
      if (kind.of == DataKind::Of::ordinary || kind.of == DataKind::Of::exact) {
        require_traffic(variant, backend, problem, where, seen, predicted, row);
      }
    }
    row.check.shapes = shapes + 1;
    if (row.check.outcome == Outcome::bad) return true;
    if (may_overlap && variant.can_overlap &&
        !try_overlapped(variant, backend, problem, where, arrays, row)) {
      return false;
    }
    const AnyProblemPtr biased = variant.adds_bias && may_add_bias ? problem.with_bias() : nullptr;
    if (biased == nullptr) return true;
    const bool alive = try_problem(chooser, backend, *biased, where + " with bias and ReLU", seed,
                                   false, false, row);
    row.check.shapes = shapes + 1;
    return alive;
  } catch (const std::runtime_error& error) {
    add_failure(row.check, where, error.what());
    return false;
  }
}

}  // namespace

void check_trials(const AnyVariant& variant, Backend& backend, const std::vector<AnyTrial>& trials,
                  std::uint64_t seed, Row& row, Progress& progress) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = variant.unavailable;
    return;
  }
  std::vector<Attempt> attempts;
  bool usable = true;
  const std::uint64_t program_seed = seed;
  bool may_repeat = true;  // not as a whole what only a few blocks of could be run
  // A transform takes longest here.
  const bool is_transform = variant.demand == conv::Demand::transformed ||
                            variant.demand == conv::Demand::transformed_split;
  // Elsewhere calls overlap in time, which the problem that is named shows; here the first shapes do.
  const int overlapped = is_transform ? 1 : 3;
  // A bias shows with a part of the shapes.
  const int biased = is_transform ? 4 : 2;
  for (const AnyTrial& trial : trials) {
    progress.show(row.stage + " " + row.variant + ": shape " +
                  std::to_string(row.check.shapes + 1) + " of " + std::to_string(trials.size()));
    ++seed;
    const AnyProblem& problem = *trial.problem;
    std::optional<TinyGpu> tiny;
    // What fails on a small problem would only fail again.
    const bool some_blocks = trial.on == TrialOn::some_blocks;
    if (some_blocks && (backend.sparse_floats() == 0 || row.check.outcome == Outcome::bad ||
                        row.hazards.outcome == Outcome::bad)) {
      continue;
    }
    if (trial.on == TrialOn::tiny_gpu) {
      tiny.emplace(backend);
      if (!tiny->is_there()) continue;
    }
    Attempt attempt{trial.problem, seed, false, trial.on, nullptr};
    const std::string again = command_of(row, attempt, {});
    tell_begin(row, problem.describe() + (tiny ? " on a tiny GPU" : ""),
               again.empty() ? command_of(row, program_seed) : again);
    bool alive = true;
    const int shapes = row.check.shapes;
    {
      const Verdict verdict(row);
      const AnyVariant& tried = tiny && variant.limited ? *variant.limited : variant;
      alive = some_blocks ? try_some_blocks(tried, backend, problem, seed, row)
                          : try_problem(tried, backend, problem,
                                        problem.describe() + (tiny ? " on a tiny GPU" : ""), seed,
                                        backend.observes() && row.check.shapes < overlapped,
                                        row.check.shapes % biased == 0, row);
      attempt.wrong = verdict.is_bad();
    }
    // What was refused is no attempt.
    if (attempt.wrong || row.check.shapes > shapes) attempts.push_back(attempt);
    if (attempt.wrong && some_blocks) may_repeat = false;
    if (!alive) {
      usable = false;
      repair(backend, row);
      break;
    }
  }
  settle(backend, row);
  if (!attempts.empty()) diagnose(variant, backend, attempts, usable && may_repeat, row);
}

void check_problem(const AnyPrepared& variant, Backend& backend, const AnyProblem& problem,
                   const std::vector<DatasetPtr>& datasets, const Judges& judges,
                   ProblemArrays& arrays, Row& row, SavedOutputs* outputs) {
  std::vector<Observation> all;
  bool alive = true;
  try {
    for (const DatasetPtr& data : datasets) {
      std::vector<float> result;
      Observation seen;
      const auto judge = [&]() -> const Judge& { return judges(*data, variant); };
      alive = try_once(variant, backend, problem, problem.describe(), *data, judge, arrays, row,
                       seen, outputs == nullptr ? nullptr : &result);
      if (!alive) break;
      all.push_back(std::move(seen));
      if (outputs != nullptr) {
        outputs->push_back(problem.outputs_in_nchw(variant.layout, std::move(result)));
      }
    }
    // In the simulator a variant's trials have shown it.
    if (alive && variant.can_overlap && !backend.observes() && row.check.outcome != Outcome::bad) {
      alive = try_overlapped(variant, backend, problem, problem.describe(), arrays, row);
    }
  } catch (const std::runtime_error& error) {
    add_failure(row.check, problem.describe(), error.what());
    alive = false;
  }
  if (!alive) repair(backend, row);
  settle(backend, row);
  const Traffic of_trials = row.traffic;
  compare_traffic(backend, alive, variant.cost, all,
                  static_cast<double>(problem.computed_outputs()), problem.describe(), row);
  // What differs in a trial only is shown as it was there.
  if (of_trials.outcome == Outcome::bad && row.traffic.outcome != Outcome::bad) {
    row.traffic = of_trials;
  }
}

void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   std::uint64_t seed, Row& row, std::vector<DatasetPtr> datasets,
                   SavedOutputs* outputs) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = row.traffic.reason = variant.unavailable;
    return;
  }
  try {
    if (datasets.empty()) datasets.push_back(problem.data({}, seed));
    std::map<const Dataset*, Judge> known;
    const auto judges = [&](const Dataset& data, const About& judged) -> const Judge& {
      const auto found = known.find(&data);
      if (found != known.end()) return found->second;
      return known.emplace(&data, judge_of(data, judged)).first->second;
    };
    ProblemArrays arrays(backend, problem);
    check_problem(variant.prepared(problem), backend, problem, datasets, judges, arrays, row,
                  outputs);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, problem.describe(), error.what());
    repair(backend, row);
  }
}

}  // namespace halo
