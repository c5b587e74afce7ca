#include "common/harness/conv1d_candidates.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "common/conv/inputs.hpp"
#include "common/data/bu_report.hpp"
#include "common/harness/candidates.hpp"
#include "common/harness/conv1d_arrays.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

// Products beyond which the reference is computed for one period of repeating data.
constexpr std::int64_t kReferenceProducts = 200'000'000;

// What the candidates of one task share.
class Group {
 public:
  Group(Backend& backend, const Conv1dTask& task)
      : backend_(backend), task_(task), workload_(task.recording) {}

  const Conv1dWorkload& workload() {
    if (!workload_) {
      const std::int64_t period =
          conv::products(task_.problem) > kReferenceProducts ? conv::kPeriod : 0;
      workload_ = std::make_shared<const Conv1dWorkload>(
          Conv1dWorkload{task_.problem,
                         task_.mask,
                         {conv::adversarial_input(task_.problem, task_.seed, period)},
                         task_.threads,
                         period});
    }
    return *workload_;
  }

  void check(const Conv1dVariant& variant, Row& row, std::vector<std::vector<float>>* outputs) {
    if (!arrays_) allocate();
    check_workload(variant, backend_, workload(), *arrays_, loaded_, row, outputs);
    // What failed may have taken the device's memory with it.
    if (row.check.outcome == Outcome::bad) drop();
  }

  std::unique_ptr<Batch> batch(const Conv1dVariant& variant, int calls, Cache cache) {
    if (!arrays_) allocate();
    if (!loaded_) arrays_->input.write(workload().channels.front());
    loaded_ = true;
    set_mask(variant);
    if (cache == Cache::hot) {
      return backend_.batch([this, variant](int) { return variant.launch(arrays_->call); }, calls);
    }
    if (!cold_input_) allocate_cold();
    return backend_.batch(
        [this, variant](int call) {
          Conv1dCall cold = arrays_->call;
          const std::int64_t start = call % cold_sets() * stride();
          cold.input = cold_input_->data() + start;
          cold.output = cold_output_->data() + start;
          return variant.launch(cold);
        },
        calls);
  }

  // Sets of arrays that are used in turn with a cold cache; see Candidate::cold_calls.
  int cold_sets() const {
    return halo::cold_sets(backend_,
                           2 * task_.problem.length() * static_cast<std::int64_t>(sizeof(float)));
  }

  double time_with_transfers(const Conv1dVariant& variant) {
    const std::vector<float>& signal = workload().channels.front();
    result_.resize(signal.size());  // written once before, so that no page is new to the clock
    const auto start = std::chrono::steady_clock::now();
    arrays_->input.write(signal);
    arrays_->mask.write(task_.mask);
    set_mask(variant);
    if (variant.launch(arrays_->call) != 0) throw std::runtime_error("a timed launch failed");
    arrays_->output.read(result_);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  }

 private:
  void allocate() {
    loaded_ = false;
    arrays_.emplace(backend_, task_.problem, task_.mask, task_.threads);
  }
  void drop() {
    arrays_.reset();
    cold_input_.reset();
    cold_output_.reset();
  }
  std::int64_t stride() const { return (task_.problem.length() + 63) / 64 * 64; }
  void allocate_cold() {
    const auto cells = static_cast<std::size_t>(cold_sets() * stride());
    cold_input_.emplace(backend_, cells);
    cold_output_.emplace(backend_, cells);
    const std::vector<float>& signal = workload().channels.front();
    for (int set = 0; set < cold_sets(); ++set) {
      backend_.copy_in(cold_input_->data() + set * stride(), signal.data(),
                       signal.size() * sizeof(float));
    }
  }
  void set_mask(const Conv1dVariant& variant) {
    if (!variant.set_mask) return;
    if (variant.set_mask(task_.mask.data(), task_.problem.mask_width()) != 0) {
      throw std::runtime_error("setting the mask failed");
    }
  }

  Backend& backend_;
  Conv1dTask task_;
  std::shared_ptr<const Conv1dWorkload> workload_;
  std::optional<Conv1dArrays> arrays_;
  bool loaded_ = false;
  std::optional<Array> cold_input_;
  std::optional<Array> cold_output_;
  std::vector<float> result_;
};

Problem problem_fields(const Conv1dTask& task) {
  Problem fields = {{"length", task.problem.length()},
                    {"mask_width", task.problem.mask_width()},
                    {"threads", task.threads},
                    {"border", conv::to_string(task.problem.border())}};
  const std::size_t channels = task.recording ? task.recording->channels.size() : 1;
  if (channels > 1) fields.emplace_back("channels", static_cast<std::int64_t>(channels));
  return fields;
}

// Why this variant does not run this problem; empty if it does.
std::string not_for(const Conv1dVariant& variant, const Conv1dTask& task) {
  if (!variant.unavailable.empty()) return variant.unavailable;
  if (!task.too_large.empty()) return task.too_large;
  if (task.problem.mask_width() > variant.widest_mask) {
    return "it is made for masks of up to " + std::to_string(variant.widest_mask) + " taps";
  }
  if (conv::products(task.problem) > variant.most_products) return variant.most_products_reason;
  return {};
}

Published published(const Conv1dVariant& variant, const Conv1dTask& task) {
  // The report's own set-up.
  if (task.problem.mask_width() != 3 || task.threads != 16 || task.recording) return {};
  const auto line = data::bu_report_line(variant.task, task.problem.length());
  if (!line) return {};
  return {"BU report, Table " + std::to_string(line->table) + ", Tesla V100-SXM2",
          {{"cpu_ms", line->cpu_ms}, {"gpu_ms", line->gpu_ms}}};
}

}  // namespace

void add_candidates(std::vector<Candidate>& candidates, const std::vector<Conv1dEntry>& entries,
                    Backend& backend, const Conv1dTask& task, const std::string& saved_variant,
                    std::vector<std::vector<float>>& saved) {
  const auto group = std::make_shared<Group>(backend, task);
  for (const auto& [stage, variant] : entries) {
    Candidate candidate;
    Row& row = candidate.row;
    row.stage = stage;
    row.backend = backend.name();
    row.variant = variant.name;
    row.source = variant.source;
    row.description = variant.description;
    row.task = variant.task;
    row.role = variant.role;
    row.problem = problem_fields(task);
    row.published = published(variant, task);
    row.time.reason = backend.no_time_reason();
    const std::string reason = not_for(variant, task);
    // A copy computes nothing; a library is judged on the problem that it is timed on.
    const auto trials = variant.role == Role::variant ? task.trials : std::vector<Conv1dTrial>{};
    candidate.check = [&backend, &saved, group, variant = variant, reason, trials,
                       keep = variant.name == saved_variant,
                       seed = task.seed](Row& checked, Progress& progress) {
      std::function<void()> try_small;
      if (!trials.empty() && variant.unavailable.empty()) {
        try_small = [&] { check_trials(variant, backend, trials, seed, checked, progress); };
      }
      check_candidate(checked, progress, reason, try_small,
                      [&] { group->check(variant, checked, keep ? &saved : nullptr); });
    };
    if (reason.empty() && backend.times()) {
      candidate.min_bytes = static_cast<double>(conv::min_bytes(task.problem));
      candidate.flops =
          variant.role == Role::copy ? 0 : static_cast<double>(conv::flops(task.problem));
      candidate.batch = [group, variant = variant](int calls, Cache cache) {
        return group->batch(variant, calls, cache);
      };
      candidate.cold_calls = [group] { return group->cold_sets(); };
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

std::string too_large_for(const conv::Problem1d& problem, Backend& backend, int channels) {
  if (backend.observes()) return too_large_for_simulator(conv::products(problem) * channels);
  // On the host: the signal, and the result; the CPU has its own two besides.
  const std::int64_t array = problem.length() * static_cast<std::int64_t>(sizeof(float));
  return too_large_for_memory("length " + with_commas(problem.length()),
                              (backend.name() == "cpu" ? 3 : 2) * array, 2 * array, backend);
}

}  // namespace halo
