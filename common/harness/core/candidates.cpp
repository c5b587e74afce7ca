#include "common/harness/core/candidates.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "common/harness/core/diagnosis.hpp"
#include "common/report/command_line.hpp"
#include "common/report/row_stream.hpp"

namespace halo {

namespace {

constexpr std::int64_t kFloat = sizeof(float);
// Products, or steps as large, that the simulator is asked for at once: some ten seconds of its time.
constexpr std::int64_t kSimulatedWork = 200'000'000;
// Arrays that are together this many times as large as the cache push each other out of it.
constexpr std::int64_t kCacheTimes = 2;

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoll(line.substr(13)) * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

// Sets of one array, each aligned as the first.
class Sets {
 public:
  Sets(Backend& backend, const Array& first, int count)
      : stride_((static_cast<std::int64_t>(first.size()) + 63) / 64 * 64),
        count_(count),
        cells_(backend, static_cast<std::size_t>(count * stride_)) {}

  float* set(int call) const { return cells_.data() + call % count_ * stride_; }
  void write(const KeptArray& kept) {
    for (int set = 0; set < count_; ++set) {
      halo::write(kept, cells_, static_cast<std::size_t>(set * stride_));
    }
  }

 private:
  std::int64_t stride_;
  int count_;
  Array cells_;
};

// What the candidates of one task share.
class Group {
 public:
  Group(Backend& backend, const Task& task)
      : backend_(backend), task_(task), problem_(*task.problem), datasets_(task.given) {}

  // The variant will be timed: there must be room for its temporaries.
  void expect(const AnyPrepared& variant) {
    most_floats_ = std::max(most_floats_, variant.workspace_floats);
  }

  void check(const AnyPrepared& variant, Row& row) {
    tell_begin(row);
    try {
      arrays().hold(*datasets().front(), variant.layout);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, problem_.describe(), error.what());
      drop();
      return;
    }
    const auto judges = [this](const Dataset& data, const About& judged) -> const Judge& {
      const std::tuple key(&data, judged.role == Role::copy, judged.demand, judged.layout);
      auto known = judges_.find(key);
      if (known == judges_.end()) known = judges_.emplace(key, judge_of(data, judged)).first;
      return known->second;
    };
    SavedOutputs* const saved = variant.name == task_.saved_variant ? task_.saved : nullptr;
    check_problem(variant, backend_, problem_, datasets(), judges, arrays(), row, saved);
    if (row.check.outcome == Outcome::good && variant.detail) row.detail = variant.detail();
    if (row.check.outcome != Outcome::bad && row.hazards.outcome != Outcome::bad) return;
    tell(variant, row);
    // What failed may have taken the device's memory with it.
    if (row.check.outcome == Outcome::bad) drop();
  }

  // What is on the device goes; it is made again for who needs it.
  void drop() {
    arrays_.reset();
    workspace_.reset();
    packed_.clear();
    cold_packed_.clear();
    cold_firsts_.clear();
    cold_others_.clear();
    cold_output_.reset();
  }

  std::unique_ptr<Batch> batch(const AnyPrepared& variant, int calls, Cache cache) {
    const AnyCall hot = prepared(variant);
    set_up(variant);
    if (cache == Cache::hot) return hot_batch(variant, hot, calls);
    make_cold(variant.layout);
    const Sets* const packed = cold_packed(variant);
    return backend_.batch(
        [this, variant, hot, packed, &first = *cold_firsts_.at(variant.layout)](int call) {
          AnyCall cold = hot;
          cold.inputs[0] = first.set(call);
          for (std::size_t i = 0; i < cold_others_.size(); ++i) {
            cold.inputs[i + 1] = cold_others_[i]->set(call);
          }
          cold.output = cold_output_->set(call);
          if (packed != nullptr) cold.packed = packed->set(call);
          return variant.launch(cold);
        },
        calls);
  }

  // Of calls on the same arrays that may overlap.
  std::unique_ptr<Batch> overlapped_batch(const AnyPrepared& variant, int calls) {
    AnyCall call = prepared(variant);
    call.overlaps = true;
    return hot_batch(variant, call, calls);
  }

  std::unique_ptr<Batch> pack_batch(const AnyPrepared& variant, int calls) {
    prepared(variant);
    const float* const filters = arrays().call(variant.layout).inputs[1];
    float* const packed = packed_.at(key_of(variant))->data();
    return backend_.batch([variant, filters, packed](int) { return variant.pack(filters, packed); },
                          calls);
  }

  // Sets of arrays that are used in turn with a cold cache; see Candidate::cold_calls.
  int cold_sets() const {
    const std::int64_t bytes = call_bytes(problem_);
    return static_cast<int>((kCacheTimes * backend_.cache_bytes() + bytes - 1) / bytes);
  }

  double time_with_transfers(const AnyPrepared& variant) {
    const AnyCall call = prepared(variant);
    const std::vector<KeptArray> kept = arrays().kept(variant.layout);
    // Written once before, so that no page is new to the clock.
    result_.resize(static_cast<std::size_t>(problem_.output_size()));
    std::vector<std::span<const float>> host;
    for (std::size_t i = 0; i < kept.size(); ++i) host.push_back(whole(kept[i], i, variant.layout));
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i].array->write(host[i]);
    set_up(variant);
    if (call.packed != nullptr) {
      pack(variant, call.inputs[1], packed_.at(key_of(variant))->data());
    }
    if (variant.launch(call) != 0) throw std::runtime_error("a timed launch failed");
    arrays().output().read(result_);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  }

 private:
  Attempt attempt() const {
    return {task_.problem, task_.seed, true,
            task_.on_tiny_gpu ? TrialOn::tiny_gpu : TrialOn::device,
            task_.given.empty() ? nullptr : task_.given.front()};
  }
  // To whoever started this program, as for each trial.
  void tell_begin(const Row& row) {
    if (!RowStream::to_starter().open()) return;
    Row begun = row;
    begun.check.diagnosis.smallest = problem_.describe();
    begun.check.diagnosis.again = command_of(row, attempt(), task_.kind);
    RowStream::to_starter().begin(begun);
  }
  // What fails here was right with all small problems, or they were left out.
  void tell(const AnyPrepared& variant, Row& row) {
    if (!row.check.diagnosis.smallest.empty()) return;
    constexpr std::int64_t kMostOutputs = 1 << 18;  // are looked at one by one
    const bool looks = problem_.output_size() <= kMostOutputs;
    diagnose(variant, backend_, attempt(), looks, row);
    if (task_.kind.of != DataKind::Of::ordinary || !looks) {
      row.check.diagnosis.again = command_of(row, attempt(), task_.kind);
    }
    row.check.diagnosis.tried += row.check.trials;
  }
  const std::vector<DatasetPtr>& datasets() {
    if (datasets_.empty()) {
      datasets_.push_back(problem_.data(task_.kind, task_.seed, task_.reference_products));
    }
    return datasets_;
  }
  ProblemArrays& arrays() {
    if (!arrays_) arrays_.emplace(backend_, problem_);
    return *arrays_;
  }
  AnyCall prepared(const AnyPrepared& variant) {
    arrays().hold(*datasets().front(), variant.layout);
    AnyCall call = arrays().call(variant.layout);
    if (variant.workspace_floats > 0) {
      if (!workspace_) workspace_.emplace(backend_, static_cast<std::size_t>(most_floats_));
      call.workspace = workspace_->data();
    }
    if (const std::int64_t floats = variant.packed_floats; floats > 0) {
      std::unique_ptr<Array>& packed = packed_[key_of(variant)];
      if (!packed) {
        packed = std::make_unique<Array>(backend_, static_cast<std::size_t>(floats));
        pack(variant, call.inputs[1], packed->data());
      }
      call.packed = packed->data();
    }
    return call;
  }
  std::unique_ptr<Batch> hot_batch(const AnyPrepared& variant, const AnyCall& call, int calls) {
    return backend_.batch([variant, call](int) { return variant.launch(call); }, calls);
  }
  void pack(const AnyPrepared& variant, const float* filters, float* packed) {
    if (variant.pack(filters, packed) != 0) {
      throw std::runtime_error("packing the filters failed");
    }
  }
  // Which of a group's variants.
  static std::pair<std::string, std::string> key_of(const About& variant) {
    return {variant.source, variant.name};
  }
  // Packed filters for each set of the others; null if the variant packs none.
  const Sets* cold_packed(const AnyPrepared& variant) {
    const auto hot = packed_.find(key_of(variant));
    if (hot == packed_.end()) return nullptr;
    std::unique_ptr<Sets>& sets = cold_packed_[key_of(variant)];
    if (sets) return sets.get();
    sets = std::make_unique<Sets>(backend_, *hot->second, cold_sets());
    for (int set = 0; set < cold_sets(); ++set) {
      pack(variant, cold_others_.front()->set(set), sets->set(set));
    }
    return sets.get();
  }
  void set_up(const AnyPrepared& variant) {
    if (!variant.set_up) return;
    const InputValues& given = datasets().front()->inputs().at(1);
    if (weights_.empty()) weights_ = repeated(given.values, given.size);
    if (variant.set_up(weights_.data()) != 0) {
      throw std::runtime_error("setting the " + given.name + " failed");
    }
  }
  void make_cold(conv::Layout layout) {
    const std::vector<KeptArray> kept = arrays().kept(layout);
    const auto filled = [&](const KeptArray& array) {
      auto sets = std::make_unique<Sets>(backend_, *array.array, cold_sets());
      sets->write(array);
      return sets;
    };
    if (!cold_output_) {
      cold_output_.emplace(backend_, arrays().output(), cold_sets());
      for (std::size_t i = 1; i < kept.size(); ++i) cold_others_.push_back(filled(kept[i]));
    }
    std::unique_ptr<Sets>& first = cold_firsts_[layout];
    if (!first) first = filled(kept.front());
  }
  // All that an array holds, on the host. What does not repeat is there already.
  std::span<const float> whole(const KeptArray& kept, std::size_t input, conv::Layout layout) {
    if (kept.values.size() == kept.array->size()) return kept.values;
    std::vector<float>& all = host_[{input, input == 0 ? layout : conv::Layout::nchw}];
    if (all.empty()) all = repeated(kept.values, static_cast<std::int64_t>(kept.array->size()));
    return all;
  }

  Backend& backend_;
  Task task_;
  const AnyProblem& problem_;  // of the task
  std::vector<DatasetPtr> datasets_;
  std::map<std::tuple<const Dataset*, bool, conv::Demand, conv::Layout>, Judge> judges_;
  std::optional<ProblemArrays> arrays_;
  // Timed calls follow one another, so they share it. (In checks each has its own.)
  std::optional<Array> workspace_;
  std::int64_t most_floats_ = 0;
  // Each variant's own.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Array>> packed_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Sets>> cold_packed_;
  std::map<conv::Layout, std::unique_ptr<Sets>> cold_firsts_;
  std::vector<std::unique_ptr<Sets>> cold_others_;
  std::optional<Sets> cold_output_;
  std::vector<float> weights_;
  std::map<std::pair<std::size_t, conv::Layout>, std::vector<float>> host_;
  std::vector<float> result_;
};

// Why this variant does not run this problem; empty if it does.
std::string not_for(const AnyPrepared& variant, const AnyProblem& problem, bool several_layouts,
                    const std::string& too_large, Backend& backend) {
  if (!variant.refusal.empty()) return variant.refusal;
  if (!too_large.empty()) return too_large;
  const std::int64_t input = kFloat * problem.input_sizes().front();
  if (several_layouts && variant.layout != conv::Layout::nchw && !backend.observes()) {
    // Beside the same in NCHW; of this one no period is held, but all of it.
    const std::string reason = too_large_for_memory(problem.describe() + " in both layouts", input,
                                                    call_bytes(problem) + input, backend);
    if (!reason.empty()) return reason;
  }
  const std::int64_t workspace = variant.workspace_floats, packed = variant.packed_floats;
  if (workspace + packed == 0) return {};
  return too_large_for_memory(
      (workspace > 0 ? "its workspace for " : "its packed filters for ") + problem.describe(), 0,
      call_bytes(problem) + kFloat * (workspace + packed), backend);
}

// What the row can say of lines once its launches are over.
Coverage coverage_of(const Row& row, TriedLines& lines, bool tried, Backend& backend) {
  lines.add(backend.take_coverage());
  Coverage coverage;
  if (row.check.outcome == Outcome::bad) {
    coverage.reason = "it failed its check";
  } else if (const std::string reason = backend.not_counted(); !reason.empty()) {
    coverage.reason = reason;
  } else if (!tried) {
    coverage.reason = "it was not tried on other problems";
  } else {
    coverage = lines.so_far();
    if (coverage.outcome == Outcome::not_run) coverage.reason = "none of its kernels was launched";
  }
  return coverage;
}

}  // namespace

void add_candidates(std::vector<Candidate>& candidates, const std::vector<Entry>& entries,
                    Backend& backend, const Task& task) {
  const AnyProblem& problem = *task.problem;
  std::set<conv::Layout> layouts;
  for (const Entry& entry : entries) layouts.insert(entry.variant.layout);
  const std::string too_large =
      task.not_run.empty() ? too_large_for(problem, backend, task.transfers) : task.not_run;
  const auto group = std::make_shared<Group>(backend, task);
  for (const auto& [stage, chooser, tried, lines] : entries) {
    // Beyond its trials it is what it chose for this problem.
    const AnyPrepared variant = chooser.prepared(problem);
    Candidate candidate;
    Row& row = candidate.row;
    row.stage = stage;
    row.backend = backend.name();
    row.variant = variant.name;
    row.source = variant.source;
    row.description = variant.description;
    row.role = variant.role;
    if (variant.layout != conv::Layout::nchw) row.layout = conv::to_string(variant.layout);
    row.label = problem.label();
    row.problem = problem.fields();
    if (task.given.size() > 1) {
      row.problem.emplace_back("channels", static_cast<std::int64_t>(task.given.size()));
    }
    if (task.given.empty()) {
      row.published = variant.published ? variant.published() : problem.published(variant.task);
    }
    row.time.reason = backend.no_time_reason();
    const std::string reason = not_for(variant, problem, layouts.size() > 1, too_large, backend);
    if (reason.empty()) {
      group->expect(variant);
      if (variant.runs_as) row.runs_as = variant.runs_as();
      row.chooses_from = chooser.chooses_from;
    }
    // A copy computes nothing; a library is judged on the problem that it is timed on.
    const bool tries = task.trials && variant.role == Role::variant && !tried;
    candidate.check = [&backend, group, variant, chooser = chooser, reason, tries, seed = task.seed,
                       lines = lines,
                       was_tried = tried || tries](Row& checked, Progress& progress) {
      if (lines) backend.take_coverage();  // what others launched
      std::function<void()> try_small;
      if (tries && variant.unavailable.empty()) {
        try_small = [&] {
          check_trials(chooser, backend, chooser.trials(seed), seed, checked, progress);
          // A launch that failed may have taken the device's memory with it, also what others left there.
          if (checked.check.outcome == Outcome::bad) group->drop();
        };
      }
      check_candidate(checked, progress, reason, try_small,
                      [&] { group->check(variant, checked); });
      if (lines && backend.observes()) {
        checked.coverage = coverage_of(checked, *lines, was_tried, backend);
      }
    };
    if (reason.empty() && backend.times()) {
      candidate.min_bytes = static_cast<double>(problem.min_bytes());
      candidate.flops = variant.role == Role::copy ? 0 : static_cast<double>(problem.flops());
      candidate.batch = [group, variant = variant](int calls, Cache cache) {
        return group->batch(variant, calls, cache);
      };
      if (variant.packed_floats > 0) {
        candidate.pack_batch = [group, variant = variant](int calls) {
          return group->pack_batch(variant, calls);
        };
      }
      if (variant.can_overlap) {
        candidate.overlapped_batch = [group, variant = variant](int calls) {
          return group->overlapped_batch(variant, calls);
        };
      }
      candidate.drop = [group] { group->drop(); };
      if (task.cold) candidate.cold_calls = [group] { return group->cold_sets(); };
      candidate.detail = variant.detail;
      if (backend.has_transfers() && task.transfers && variant.role == Role::variant) {
        candidate.time_with_transfers = [group, variant = variant] {
          return group->time_with_transfers(variant);
        };
      }
    }
    candidates.push_back(std::move(candidate));
  }
}

std::string too_large_for(const AnyProblem& problem, Backend& backend, bool transfers) {
  if (backend.observes()) {
    const Work work = problem.work();
    return too_large_for_simulator(work.amount, work.units);
  }
  const std::int64_t bytes = call_bytes(problem);
  std::int64_t on_host = kFloat * problem.held_floats();
  if (backend.has_transfers() && transfers) on_host += bytes;
  if (backend.name() == "cpu") on_host += bytes;
  return too_large_for_memory(problem.describe(), on_host, bytes, backend);
}

std::string too_large_for_simulator(std::int64_t work, const std::string& units) {
  if (work <= kSimulatedWork) return {};
  return "too large for the simulator: " + with_commas(work) + " " + units + ", it is given " +
         with_commas(kSimulatedWork) + " at most";
}

std::string too_large_for_memory(const std::string& what, std::int64_t host_bytes,
                                 std::int64_t device_bytes, Backend& backend) {
  const auto complaint = [&](const char* where, std::int64_t wanted, std::int64_t free) {
    return std::string("too large for ") + where + ": " + what + " needs " +
           with_commas(wanted >> 20) + " MiB of memory, " + with_commas(free >> 20) +
           " MiB are free";
  };
  const std::int64_t available = available_memory();
  if (host_bytes > available) return complaint("this machine", host_bytes, available);
  const std::int64_t on_device = device_bytes + (std::int64_t{1} << 20);
  if (const std::int64_t free = backend.free_memory(); on_device > free) {
    return complaint("this GPU", on_device, free);
  }
  return {};
}

void check_candidate(Row& row, Progress& progress, const std::string& reason,
                     const std::function<void()>& trials, const std::function<void()>& problem) {
  if (trials) trials();
  row.check.trials = row.check.shapes;
  // What fails on a small problem may take the device down on a large one.
  if (reason.empty() && row.check.outcome != Outcome::bad) {
    progress.show(row.stage + " " + row.variant + ": checking");
    problem();
    return;
  }
  if (row.traffic.outcome != Outcome::bad) {
    row.traffic.reason = reason.empty() ? "it failed its check" : reason;
  }
  if (reason.empty()) return;
  row.time.reason = reason;
  // The row is about its own problem: that small ones are right is told beside it (Check::trials).
  const auto leave_out = [&](Outcome& outcome, std::string& why) {
    if (outcome == Outcome::bad) return;
    outcome = Outcome::not_run;
    why = reason;
  };
  leave_out(row.check.outcome, row.check.reason);
  leave_out(row.hazards.outcome, row.hazards.reason);
}

}  // namespace halo
