#include "common/harness/conv2d_candidates.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>

#include "common/data/cuconv_figures.hpp"
#include "common/harness/candidates.hpp"
#include "common/harness/conv2d_arrays.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

constexpr std::int64_t kFloat = sizeof(float);
// The stage that rebuilds cuConv.
constexpr const char* kCuconvStage = "09_cuconv_two_stage";

std::int64_t array_bytes(const conv::ConvLayer& layer) {
  return kFloat * (layer.input_size() + layer.filters_size() + layer.output_size());
}

// What the candidates of one layer share.
class Group {
 public:
  Group(Backend& backend, const Conv2dTask& task) : backend_(backend), task_(task) {}

  // The variant will be timed: there must be room for its temporaries.
  void expect(const Conv2dVariant& variant) {
    most_floats_ = std::max(most_floats_, workspace_floats(variant, task_.layer));
  }

  void check(const Conv2dVariant& variant, Row& row) {
    try {
      require_arrays(variant.layout);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, "layer " + conv::label(task_.layer), error.what());
      drop();
      return;
    }
    std::vector<float>* const saved = variant.name == task_.saved_variant ? task_.saved : nullptr;
    check_layer(variant, backend_, data(), checker(variant), *arrays_, row, saved);
    if (row.check.outcome == Outcome::good && variant.detail) {
      row.detail = variant.detail(task_.layer);
    }
    // What failed may have taken the device's memory with it.
    if (row.check.outcome == Outcome::bad) drop();
  }

  std::unique_ptr<Batch> batch(const Conv2dVariant& variant, int calls, Cache cache) {
    prepare(variant);
    const Conv2dCall hot = call_of(variant);
    if (cache == Cache::hot) {
      return backend_.batch([variant, hot](int) { return variant.launch(hot); }, calls);
    }
    Sets& inputs = cold_input(variant.layout);
    return backend_.batch(
        [this, variant, hot, &inputs](int call) {
          const int set = call % cold_sets();
          Conv2dCall cold = hot;
          cold.input = inputs.set(set);
          cold.filters = cold_filters_->set(set);
          cold.output = cold_output_->set(set);
          return variant.launch(cold);
        },
        calls);
  }

  // Sets of arrays that are used in turn with a cold cache; see Candidate::cold_calls.
  int cold_sets() const { return halo::cold_sets(backend_, array_bytes(task_.layer)); }

  double time_with_transfers(const Conv2dVariant& variant) {
    if (host_filters_.empty()) {
      host_filters_ = data().all_filters();
      // Written once before, so that no page is new to the clock.
      host_output_.resize(static_cast<std::size_t>(task_.layer.output_size()));
    }
    std::vector<float>& host_input = host_inputs_[variant.layout];
    if (host_input.empty()) host_input = data().all_input(variant.layout);
    const Conv2dCall call = call_of(variant);
    Array& input = *arrays_->input(variant.layout).array;
    const auto start = std::chrono::steady_clock::now();
    input.write(host_input);
    arrays_->filters().array->write(host_filters_);
    set_filters(variant, host_filters_);
    if (variant.launch(call) != 0) throw std::runtime_error("a timed launch failed");
    arrays_->output().read(host_output_);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  }

 private:
  const Conv2dData& data() {
    if (task_.data) return *task_.data;
    if (!data_) {
      data_ = adversarial_data(task_.layer, task_.seed,
                               conv::affordable_repeat(task_.layer, task_.reference_products));
    }
    return *data_;
  }
  const conv::LayerChecker& checker(const Conv2dVariant& variant) {
    return checkers_
        .try_emplace({variant.demand, variant.layout}, task_.layer, data().input, data().filters,
                     variant.demand, data().repeat, variant.layout)
        .first->second;
  }
  void require_arrays(conv::Layout layout) {
    if (!arrays_) arrays_.emplace(backend_, data());
    arrays_->input(layout);
  }
  Sets& cold_input(conv::Layout layout) {
    if (!cold_filters_) {
      cold_filters_.emplace(backend_, *arrays_->filters().array, cold_sets());
      cold_output_.emplace(backend_, arrays_->output(), cold_sets());
      for (int set = 0; set < cold_sets(); ++set) cold_filters_->write(arrays_->filters(), set);
    }
    const KeptArray input = arrays_->input(layout);
    const auto [found, is_new] =
        cold_inputs_.try_emplace(layout, backend_, *input.array, cold_sets());
    for (int set = 0; is_new && set < cold_sets(); ++set) found->second.write(input, set);
    return found->second;
  }
  void prepare(const Conv2dVariant& variant) {
    require_arrays(variant.layout);
    if (!workspace_ && most_floats_ > 0) {
      workspace_.emplace(backend_, static_cast<std::size_t>(most_floats_));
    }
    if (variant.set_filters) set_filters(variant, data().all_filters());
  }
  Conv2dCall call_of(const Conv2dVariant& variant) {
    Conv2dCall call = arrays_->call(variant.layout);
    if (workspace_floats(variant, task_.layer) > 0) call.workspace = workspace_->data();
    return call;
  }
  void set_filters(const Conv2dVariant& variant, const std::vector<float>& filters) {
    if (!variant.set_filters) return;
    if (variant.set_filters(filters.data(), task_.layer) != 0) {
      throw std::runtime_error("setting the filters failed");
    }
  }
  void drop() {
    arrays_.reset();
    workspace_.reset();
    cold_inputs_.clear();
    cold_filters_.reset();
    cold_output_.reset();
  }

  Backend& backend_;
  Conv2dTask task_;
  std::optional<Conv2dData> data_;
  std::map<std::pair<conv::Demand, conv::Layout>, conv::LayerChecker> checkers_;
  std::optional<Conv2dArrays> arrays_;
  // Timed calls follow one another, so they share it. (In checks each has its own.)
  std::optional<Array> workspace_;
  std::int64_t most_floats_ = 0;
  std::map<conv::Layout, Sets> cold_inputs_;
  std::optional<Sets> cold_filters_, cold_output_;
  std::map<conv::Layout, std::vector<float>> host_inputs_;  // all of them
  std::vector<float> host_filters_, host_output_;
};

// Why this variant does not run this layer; empty if it does.
std::string not_for(const Conv2dVariant& variant, const Conv2dTask& task, Backend& backend) {
  if (!variant.unavailable.empty()) return variant.unavailable;
  if (std::string reason = refusal(variant, task.layer); !reason.empty()) return reason;
  if (!task.too_large.empty()) return task.too_large;
  if (variant.layout != conv::Layout::nchw && !backend.observes()) {
    // Beside the same in NCHW; of this one no period is held, but all of it.
    const std::int64_t input = kFloat * task.layer.input_size();
    const std::string reason =
        too_large_for_memory("layer " + conv::label(task.layer) + " in both layouts", input,
                             array_bytes(task.layer) + input, backend);
    if (!reason.empty()) return reason;
  }
  const std::int64_t floats = workspace_floats(variant, task.layer);
  if (floats == 0) return {};
  return too_large_for_memory("its workspace for layer " + conv::label(task.layer), 0,
                              array_bytes(task.layer) + kFloat * floats, backend);
}

// What the paper that a stage rebuilds printed for this layer.
Published published(const std::string& stage, const Conv2dVariant& variant,
                    const conv::ConvLayer& layer) {
  if (stage != kCuconvStage || variant.role != Role::variant) return {};
  const auto line = data::cuconv_figures(layer);
  if (!line) return {};
  return {
      "cuConv, Table " + std::to_string(line->table) + ", Tesla V100; of cuDNN " + line->best_cudnn,
      {{"cuconv_us", line->cuconv_us}, {"best_cudnn_us", line->best_cudnn_us}}};
}

}  // namespace

Problem problem_of(const conv::ConvLayer& layer) {
  return {{"N", layer.N()},
          {"C", layer.C()},
          {"H", layer.H()},
          {"W", layer.W()},
          {"K", layer.K()},
          {"R", layer.R()},
          {"S", layer.S()},
          {"stride", down_and_across(layer.stride_h(), layer.stride_w())},
          {"padding", down_and_across(layer.padding_h(), layer.padding_w())}};
}

void add_candidates(std::vector<Candidate>& candidates, const std::vector<Conv2dEntry>& entries,
                    Backend& backend, const Conv2dTask& task) {
  const auto group = std::make_shared<Group>(backend, task);
  for (const auto& [stage, variant, tried] : entries) {
    if (variant.role == Role::copy) throw std::logic_error("the 2D family has no copies");
    Candidate candidate;
    Row& row = candidate.row;
    row.stage = stage;
    row.backend = backend.name();
    row.variant = variant.name;
    row.source = variant.source;
    row.description = variant.description;
    row.role = variant.role;
    if (variant.layout != conv::Layout::nchw) row.layout = conv::to_string(variant.layout);
    row.problem = problem_of(task.layer);
    row.label = conv::label(task.layer);
    row.published = published(stage, variant, task.layer);
    row.time.reason = backend.no_time_reason();
    const std::string reason = not_for(variant, task, backend);
    if (reason.empty()) {
      group->expect(variant);
      if (variant.runs_as) row.runs_as = variant.runs_as(task.layer);
      row.chooses_from = variant.chooses_from;
    }
    // A library is judged on the layer that it is timed on.
    const auto trials =
        variant.role == Role::variant && !tried ? task.trials : std::vector<conv::ConvLayer>{};
    candidate.check = [&backend, group, variant = variant, reason, trials, seed = task.seed](
                          Row& checked, Progress& progress) {
      std::function<void()> try_small;
      if (!trials.empty() && variant.unavailable.empty()) {
        try_small = [&] { check_layers(variant, backend, trials, seed, checked, progress); };
      }
      check_candidate(checked, progress, reason, try_small,
                      [&] { group->check(variant, checked); });
    };
    if (reason.empty() && backend.times()) {
      candidate.min_bytes = static_cast<double>(conv::min_bytes(task.layer));
      candidate.flops = static_cast<double>(conv::flops(task.layer));
      candidate.batch = [group, variant = variant](int calls, Cache cache) {
        return group->batch(variant, calls, cache);
      };
      if (task.cold) candidate.cold_calls = [group] { return group->cold_sets(); };
      if (variant.detail) {
        candidate.detail = [variant = variant, layer = task.layer] {
          return variant.detail(layer);
        };
      }
      if (backend.has_transfers() && task.transfers && variant.role == Role::variant) {
        candidate.time_with_transfers = [group, variant = variant] {
          return group->time_with_transfers(variant);
        };
      }
    }
    candidates.push_back(std::move(candidate));
  }
}

std::string too_large_for(const conv::ConvLayer& layer, Backend& backend, bool transfers) {
  if (backend.observes()) return too_large_for_simulator(conv::products(layer));
  const std::int64_t bytes = array_bytes(layer);
  // Of the data one period is held, which is little beside the arrays of a layer that is large.
  std::int64_t on_host = kFloat * (layer.input_size() / layer.N() + layer.filters_size());
  if (backend.has_transfers() && transfers) on_host += bytes;
  if (backend.name() == "cpu") on_host += bytes;
  return too_large_for_memory("layer " + conv::label(layer), on_host, bytes, backend);
}

}  // namespace halo
