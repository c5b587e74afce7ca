#include "common/network/run.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>

#include "common/harness/core/candidates.hpp"
#include "common/harness/core/diagnosis.hpp"
#include "common/harness/core/verify.hpp"
#include "common/network/chain.hpp"
#include "common/network/digits.hpp"
#include "common/network/networks.hpp"
#include "common/report/command_line.hpp"

namespace halo::network {

namespace {

using conv::Layout;

constexpr const char* kSource = "common/network/networks.cpp";
// Products of a layer that the CPU computes to judge it; what has more is judged by a sample.
constexpr std::int64_t kJudgedProducts = std::int64_t{1} << 27;

Problem problem_of(const Network& network, const std::string& layer) {
  return {{"network", network.name()}, {"N", network.images()}, {"layer", layer}};
}

// ---- One network, one way ----

class Run;

// All ways of one network.
class Group {
 public:
  Group(Backend& backend, const Task& task, std::uint64_t seed)
      : backend_(backend), task_(task), seed_(seed) {}

  Backend& backend() { return backend_; }
  const Task& task() const { return task_; }
  const Network& network() const { return task_.network; }
  std::uint64_t seed() const { return seed_; }

  const Weights& weights() {
    if (task_.weights) return *task_.weights;
    if (!random_) random_.emplace(random_weights(network(), seed_));
    return *random_;
  }
  const DeviceWeights& on_device() {
    if (!on_device_) on_device_.emplace(backend_, network(), weights());
    return *on_device_;
  }
  // What is on the device goes; on_device() makes it again.
  void drop() { on_device_.reset(); }
  // Empty if there is room for the maps of one chain more, besides those asked for before; else why not.
  std::string room_for(std::int64_t bytes) {
    const std::int64_t weights = Chain::weight_bytes(network());
    const std::string what = "network " + network().name() + " on " +
                             with_commas(network().images()) +
                             (network().images() == 1 ? " image" : " images");
    const std::string reason = too_large_for_memory(what, weights + 4 * network().input().size(),
                                                    weights + asked_for_ + bytes, backend_);
    if (reason.empty()) asked_for_ += bytes;
    return reason;
  }
  const std::vector<float>& input() {
    if (input_.empty()) input_ = task_.input.empty() ? random_input(network(), seed_) : task_.input;
    return input_;
  }

 private:
  Backend& backend_;
  const Task& task_;
  std::uint64_t seed_;
  std::optional<Weights> random_;
  std::optional<DeviceWeights> on_device_;
  std::vector<float> input_;
  std::int64_t asked_for_ = 0;
};

// A network built in one way: its chain, made when it is checked.
class Run {
 public:
  Run(std::shared_ptr<Group> group, const Way& way, const Costs& costs)
      : group_(std::move(group)), way_(way), costs_(costs) {
    Backend& backend = group_->backend();
    const Network& network = group_->network();
    if (way.peer != nullptr && !way.peer->unavailable.empty()) {
      reason_ = way.peer->unavailable;
      return;
    }
    if (backend.observes()) reason_ = too_large_for_simulator(network.products());
    if (!reason_.empty()) return;
    try {
      plan_ = cheapest_plan(costs, way.rule);
    } catch (const std::runtime_error& error) {
      reason_ = error.what();
      return;
    }
    if (way.overlaps && !plan_.can_overlap()) {
      reason_ = "none of its kernels can begin before the one before it has ended";
      return;
    }
    if (way.split && !plan_.on_tensor_cores()) {
      reason_ = "no kernel on tensor cores makes it cheaper";
      return;
    }
    reason_ = group_->room_for(Chain::bytes(network, plan_, keep_for(backend)));
  }

  const std::string& reason() const { return reason_; }
  const Way& way() const { return way_; }
  const Plan& plan() const { return plan_; }

  Row row(const std::string& layer) const {
    Row row;
    row.stage = way_.stage;
    row.backend = group_->backend().name();
    row.variant = way_.name;
    row.source = way_.peer != nullptr ? "" : kSource;
    row.description = way_.description;
    row.role = way_.peer != nullptr ? Role::peer : Role::variant;
    row.problem = problem_of(group_->network(), layer);
    row.time.reason = group_->backend().no_time_reason();
    return row;
  }

  // The whole network: every layer, then its answers.
  void check(Row& row) {
    Backend& backend = group_->backend();
    bool alive = true;
    try {
      alive = chain().check(verdicts_, group_->seed(), kJudgedProducts, way_.peer == nullptr);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, group_->network().name(), error.what());
      alive = false;
    }
    int sampled = 0;
    Cost counted;
    for (const LayerVerdict& verdict : verdicts_) {
      merge(verdict, row);
      counted.add(verdict.counted);
      sampled += verdict.sampled;
    }
    if (alive) {
      output_ = chain_->output();
      require_answers(row);
    } else {
      repair(backend, row);
    }
    ++row.check.shapes;
    settle(backend, row);
    row.detail = std::to_string(plan_.transforms()) +
                 (plan_.transforms() == 1 ? " transform" : " transforms");
    if (sampled > 0)
      row.detail += "; of " + std::to_string(sampled) + " layers a sample is compared";
    fill_traffic(row, counted, 0, group_->network().layers().size(), alive);
    if (row.check.outcome != Outcome::good) {
      chain_.reset();
      tell_again(row);
    }
  }

  // The command that repeats it, if nothing smaller fails.
  void tell_again(Row& row) const {
    Diagnosis& diagnosis = row.check.diagnosis;
    // Somebody's own picture or weights are not named by these words.
    const Task& task = group_->task();
    const bool own = !task.input.empty() && task.expected.empty();
    if (!diagnosis.again.empty() || own || row.role != Role::variant) return;
    const Network& network = group_->network();
    diagnosis.again = command_of(row, group_->seed()) + " --network " + network.name() +
                      " --batch " + std::to_string(network.images()) + " --no-trials";
  }

  void check_layer(std::size_t layer, Row& row) {
    if (layer >= verdicts_.size()) {
      row.check.reason = row.hazards.reason = row.traffic.reason = "the network did not run";
      return;
    }
    const LayerVerdict& verdict = verdicts_[layer];
    merge(verdict, row);
    row.check.shapes = verdict.check.shapes;
    if (verdict.check.outcome == Outcome::not_run) row.check.reason = "a layer before it failed";
    settle(group_->backend(), row);
    row.layout = to_string(plan_.layers[layer].layout);
    if (chain_) row.detail = chain_->describe(layer);
    if (verdict.sampled) row.detail += "; a sample of the outputs is compared";
    fill_traffic(row, verdict.counted, layer, layer + 1, verdict.check.outcome != Outcome::not_run);
  }

  // One graph holds all launches of all calls. No launch of a call begins before the call before has ended.
  std::unique_ptr<Batch> batch(int calls) {
    return group_->backend().batch(
        [&of = chain(), overlaps = way_.overlaps](int) { return of.launch(overlaps); }, calls);
  }
  std::unique_ptr<Batch> batch_of_layer(std::size_t layer, int calls) {
    return group_->backend().batch([&of = chain(), layer](int) { return of.launch_layer(layer); },
                                   calls);
  }
  // What is on the device goes; batch() makes it again.
  void drop() {
    chain_.reset();
    group_->drop();
  }
  bool can_be_timed() const { return chain_ != nullptr; }
  // [N][categories] of the check; empty if it failed.
  const std::vector<float>& output() const { return output_; }

 private:
  Chain& chain() {
    if (!chain_) {
      chain_ =
          std::make_unique<Chain>(group_->backend(), group_->network(), plan_, group_->weights(),
                                  group_->on_device(), keep_for(group_->backend()));
      chain_->set_input(group_->input());
    }
    return *chain_;
  }
  static void merge(const LayerVerdict& verdict, Row& row) {
    row.check.worst_share = std::max(row.check.worst_share, verdict.check.worst_share);
    if (verdict.check.outcome == Outcome::bad && row.check.outcome != Outcome::bad) {
      row.check.outcome = Outcome::bad;
      row.check.reason = verdict.check.reason;
    }
    if (verdict.hazards.outcome != Outcome::bad) return;
    if (row.hazards.outcome != Outcome::bad) row.hazards.reason = verdict.hazards.reason;
    row.hazards.outcome = Outcome::bad;
    for (const Hazard& hazard : verdict.hazards.findings) row.hazards.findings.push_back(hazard);
  }

  void require_answers(Row& row) const {
    const std::vector<int>& expected = group_->task().expected;
    const int categories = group_->network().categories();
    for (std::size_t n = 0; n < expected.size(); ++n) {
      const int own = answer(&output_[n * static_cast<std::size_t>(categories)], categories);
      if (own == expected[n]) continue;
      add_failure(
          row.check, "picture " + std::to_string(n),
          "it is a " + std::to_string(own) + " here, PyTorch says " + std::to_string(expected[n]));
      return;
    }
  }

  void fill_traffic(Row& row, const Cost& counted, std::size_t first, std::size_t end,
                    bool finished) const {
    Cost predicted;
    bool all_predicted = true;
    double outputs = 0;
    for (std::size_t layer = first; layer < end; ++layer) {
      if (chain_ && group_->backend().observes()) {
        all_predicted = chain_->predict(layer, predicted) && all_predicted;
      }
      outputs = static_cast<double>(output_of(group_->network().layers()[layer]).size());
    }
    Observation seen;
    seen.cost = counted;
    std::function<Cost()> predict;
    if (all_predicted) predict = [&] { return predicted; };
    compare_traffic(group_->backend(), finished && chain_ != nullptr, predict, {seen}, outputs,
                    group_->network().name(), row);
  }

  std::shared_ptr<Group> group_;
  Way way_;
  const Costs& costs_;
  Plan plan_;
  std::string reason_;
  std::unique_ptr<Chain> chain_;
  std::vector<LayerVerdict> verdicts_;
  std::vector<float> output_;
};

// The last picture is nothing but NaN.
std::vector<float> spoiled_input(const Network& network, std::uint64_t seed) {
  std::vector<float> input = random_input(network, seed);
  const auto cells = static_cast<std::ptrdiff_t>(input.size()) / network.images();
  std::fill(input.end() - cells, input.end(), std::numeric_limits<float>::quiet_NaN());
  return input;
}

bool has_pooling(const Network& network) {
  return std::any_of(network.layers().begin(), network.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<conv::PoolingLayer>(layer.work);
  });
}

// A miniature network, planned by the same rule from counted costs (which need no device).
void try_miniature(Backend& backend, const Way& way, const Network& network,
                   std::span<const float> input, const std::string& where, std::uint64_t seed,
                   Row& row, Progress& progress) {
  progress.show(way.stage + " " + way.name + ": " + where);
  try {
    const std::unique_ptr<CostSource> source = counted_costs();
    const Costs costs = price_network(network, *way.catalogue, *source, progress);
    const Plan plan = cheapest_plan(costs, way.rule);
    const Weights weights = random_weights(network, seed);
    const DeviceWeights on_device(backend, network, weights);
    Chain chain(backend, network, plan, weights, on_device, Keep::all);
    chain.set_input(input);
    std::vector<LayerVerdict> verdicts;
    const bool alive = chain.check(verdicts, seed, kJudgedProducts, true);
    ++row.check.shapes;
    Observation seen;
    Cost predicted;
    bool all_predicted = true;
    for (std::size_t layer = 0; layer < verdicts.size(); ++layer) {
      const LayerVerdict& verdict = verdicts[layer];
      row.check.worst_share = std::max(row.check.worst_share, verdict.check.worst_share);
      if (verdict.check.outcome == Outcome::bad && row.check.outcome != Outcome::bad) {
        row.check.outcome = Outcome::bad;
        row.check.reason = verdict.check.reason;
      }
      if (verdict.hazards.outcome == Outcome::bad) row.hazards = verdict.hazards;
      seen.cost.add(verdict.counted);
      if (backend.observes()) all_predicted = chain.predict(layer, predicted) && all_predicted;
    }
    if (!alive) {
      repair(backend, row);
    } else if (backend.not_counted().empty() && all_predicted &&
               !as_predicted(seen.cost, predicted) && row.traffic.outcome != Outcome::bad) {
      compare_traffic(
          backend, true, [&] { return predicted; }, {seen},
          static_cast<double>(output_of(network.layers().back()).size()), where, row);
    }
  } catch (const std::runtime_error& error) {
    add_failure(row.check, where, error.what());
  }
}

// What this stage adds to the others, each on its own; then the miniature networks, here and on a tiny
// GPU. (The kernels of other stages are tried there.)
void try_miniatures(Backend& backend, const Way& way, std::uint64_t seed, Row& row,
                    Progress& progress) {
  const auto failed = [&] { return row.check.outcome == Outcome::bad; };
  const Catalogue catalogue = (*way.catalogue)();
  const std::vector<Network> networks = miniature_networks();
  for (const auto& [stage, variant] : catalogue.fully_connected) {
    const bool may = way.rule(networks.front().layers().front(), variant.layout);
    if (stage != way.stage || !may) continue;
    check_trials(variant, backend, trials(variant, seed), seed, row, progress);
    if (failed()) return;
  }
  const std::string again = command_of(row, seed);
  const auto attempt = [&](const Network& network, const auto& make_input, const std::string& how) {
    if (failed()) return;
    ++seed;
    tell_begin(row, network.name() + how, again);
    try_miniature(backend, way, network, make_input(network, seed), network.name() + how, seed, row,
                  progress);
  };
  for (const Network& network : networks) attempt(network, random_input, "");
  // A network that has gone wrong must show it, and only where it has. Pooling promises nothing of a NaN.
  for (const Network& network : networks) {
    if (!has_pooling(network)) attempt(network, spoiled_input, ", a picture of NaN");
  }
  const TinyGpu tiny(backend);
  if (!tiny.is_there()) return;
  for (const Network& network : networks) attempt(network, random_input, " on a tiny GPU");
}

// ---- All ways of one network ----

}  // namespace

std::vector<Way> ways(const NetworkStage& stage, const std::vector<Peer>& peers) {
  const auto ours = [&](const char* name, const char* description, LayoutRule rule) {
    return Way{stage.name, name, description, std::move(rule), &stage.catalogue};
  };
  std::vector<Way> all = {
      ours("nchw", "every layer in NCHW, each by its cheapest kernel", only(Layout::nchw)),
      ours("chwn", "every layer but the softmax in CHWN, each by its cheapest kernel",
           only(Layout::chwn)),
      ours("planned", "layouts and kernels by the cheapest plan", any_layout),
      ours("planned_overlapped", "the same plan; a kernel may begin before the one before it ends",
           any_layout),
      ours("planned_split", "as planned, of kernels on tensor cores too: nearly float's accuracy",
           any_layout),
      ours("planned_split_overlapped", "both", any_layout)};
  all[3].overlaps = all[5].overlaps = true;
  for (Way* const way : {&all[4], &all[5]}) {
    way->split = true;
    way->catalogue = &stage.split;
  }
  for (const Peer& peer : peers) {
    all.push_back(
        {"peers", peer.name, peer.description, only(Layout::nchw), &peer.catalogue, &peer});
  }
  return all;
}

Outcomes run_task(const Task& task, const std::vector<Way>& all_ways, CostSource& source,
                  Backend& backend, std::uint64_t seed, const HowToRun& how, Progress& progress) {
  const auto group = std::make_shared<Group>(backend, task, seed);
  std::map<const MakeCatalogue*, Costs> costs;
  std::vector<std::shared_ptr<Run>> runs;
  const bool too_large =
      backend.observes() && !too_large_for_simulator(task.network.products()).empty();
  for (const Way& way : all_ways) {
    auto known = costs.find(way.catalogue);
    if (known == costs.end()) {
      const bool skip = too_large || (way.peer != nullptr && !way.peer->unavailable.empty());
      known = costs
                  .emplace(way.catalogue,
                           skip ? Costs{task.network, "", {}}
                                : price_network(task.network, *way.catalogue, source, progress))
                  .first;
    }
    runs.push_back(std::make_shared<Run>(group, way, known->second));
  }

  std::vector<Candidate> whole;
  double flops_of_all = 0, bytes_of_all = 0;
  for (const Layer& layer : task.network.layers()) {
    flops_of_all += static_cast<double>(flops(layer));
    bytes_of_all += static_cast<double>(min_bytes(layer));
  }
  for (const std::shared_ptr<Run>& run : runs) {
    Candidate candidate;
    candidate.row = run->row(kWhole);
    const bool ready = run->way().peer == nullptr || run->way().peer->unavailable.empty();
    candidate.check = [run, ready, &backend, seed, trials = how.trials](Row& row, Progress& shown) {
      std::function<void()> try_small;
      // A library is judged on the networks that it is timed on.
      if (trials && ready && run->way().peer == nullptr) {
        try_small = [&] {
          try_miniatures(backend, run->way(), seed, row, shown);
          const bool failed =
              row.check.outcome == Outcome::bad || row.hazards.outcome == Outcome::bad;
          if (failed) row.check.diagnosis.again = command_of(row, seed);
        };
      }
      check_candidate(row, shown, run->reason(), try_small, [&] { run->check(row); });
      settle(backend, row);
    };
    if (run->reason().empty() && backend.times() && how.times) {
      candidate.batch = [run](int calls, Cache) { return run->batch(calls); };
      candidate.drop = [run] { run->drop(); };
      candidate.min_bytes = bytes_of_all;
      candidate.flops = flops_of_all;
    } else if (!how.times && candidate.row.time.reason.empty()) {
      candidate.row.time.reason = "--no-times was given";
    }
    whole.push_back(std::move(candidate));
  }
  Outcomes outcomes;
  outcomes.whole = run_candidates(whole, backend, progress, how.timing);

  std::vector<Candidate> parts;
  for (std::size_t i = 0; i < task.network.layers().size(); ++i) {
    const Layer& layer = task.network.layers()[i];
    for (const std::shared_ptr<Run>& run : runs) {
      // A layer alone has nothing to overlap with.
      if (!run->reason().empty() || run->way().overlaps) continue;
      Candidate candidate;
      candidate.row = run->row(layer.name);
      candidate.check = [run, i](Row& row, Progress&) { run->check_layer(i, row); };
      const bool is_done = run->plan().layers[i].kernel == nullptr;
      if (is_done && candidate.row.time.reason.empty()) {
        candidate.row.time.reason = "computed together with the layers before";
      }
      if (backend.times() && how.times && run->can_be_timed() && !is_done) {
        candidate.batch = [run, i](int calls, Cache) { return run->batch_of_layer(i, calls); };
        // Of all layers that its kernel computes.
        const std::size_t several = run->plan().layers[i].kernel->kernel.of_layers.size();
        for (std::size_t j = i; j < i + std::max<std::size_t>(several, 1); ++j) {
          candidate.min_bytes += static_cast<double>(min_bytes(task.network.layers()[j]));
          candidate.flops += static_cast<double>(flops(task.network.layers()[j]));
        }
      }
      parts.push_back(std::move(candidate));
    }
  }
  outcomes.layers = run_candidates(parts, backend, progress, kLeanTiming);
  for (const std::shared_ptr<Run>& run : runs) {
    if (run->output().empty() || run->way().peer != nullptr || run->way().overlaps) continue;
    outcomes.output = run->output();
    outcomes.answered_by = run->way().name;
  }
  return outcomes;
}

}  // namespace halo::network
