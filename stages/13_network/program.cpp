// The program of stage 13: which networks, planned from which costs, checked, timed and printed.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/harness/candidates.hpp"
#include "common/harness/family_program.hpp"
#include "common/harness/verify.hpp"
#include "stages/10_layout_convolution/layout_choice.hpp"
#include "stages/13_network/chain.hpp"
#include "stages/13_network/costs.hpp"
#include "stages/13_network/digits.hpp"
#include "stages/13_network/networks.hpp"
#include "stages/13_network/stage.hpp"

namespace halo::network {

namespace {

using conv::Layout;

constexpr const char* kStage = "13_network";
constexpr const char* kSource = "stages/13_network/networks.cpp";
// Products of a layer that the CPU computes to judge it; what has more is judged by a sample.
constexpr std::int64_t kJudgedProducts = std::int64_t{1} << 27;
// Layers of networks with fewer products reach no roof.
constexpr std::int64_t kRoofProducts = 1'000'000'000;
// What stands in a row's field `layer` for the whole network.
constexpr const char* kWhole = "all";

struct Options : FamilyOptions {
  std::string network;
  std::string batch;
  std::string input;
  std::string weights;
  bool plan = false;
  bool bench = false;
};

bool parse(int argc, const char* const* argv, Options& options) {
  std::string names;
  for (const std::string& name : network_names()) names += (names.empty() ? "" : ", ") + name;
  const std::string program = program_name(argc, argv, kStage);
  CommandLine line(
      std::string(kStage) + ": whole networks, planned, checked and measured",
      "Examples:\n  " + program + " --input digit.png\n  " + program +
          " --network lenet,alexnet --batch 128\n  " + program +
          " --plan --network cifar10 --batch 64\n"
          "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 77 not run.");
  line.option("--network", "NAME[,NAME]", options.network, "these networks: " + names);
  line.option("--batch", "N[,N]", options.batch, "images at a time");
  line.option("--input", "FILE", options.input,
              "what digit is it? A grey picture of 8 x 8 pixels, or of a multiple of that");
  line.option(
      "--weights", "FOLDER", options.weights,
      "LAYER.filters.npy and LAYER.bias.npy of each layer of one network, instead of random "
      "ones; digits has its own");
  line.flag("--plan", options.plan, "print what is chosen for each layer, and why, and stop");
  line.flag("--bench", options.bench, "all networks, on 1 image and on the paper's batch");
  add_family_options(line, options);
  return line.parse(argc, argv);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (;;) {
    const std::size_t comma = text.find(',', at);
    parts.push_back(text.substr(at, comma - at));
    if (comma == std::string::npos) return parts;
    at = comma + 1;
  }
}

// A network on a batch, with what it is to compute.
struct Task {
  Network network;
  std::shared_ptr<const Weights> weights = {};  // null: random
  std::vector<float> input = {};                // empty: random
  std::vector<int> expected = {};               // PyTorch's answers; empty: not known
};

// How a network is built: by which rule, of whose kernels. Points into what it is made of.
struct Way {
  std::string name;
  std::string description;
  LayoutRule rule;
  const MakeCatalogue* catalogue;
  const Peer* peer = nullptr;  // null: ours
};

std::vector<Way> ways(const MakeCatalogue& ours, const std::vector<Peer>& peers) {
  std::vector<Way> all = {
      {"nchw", "every layer in NCHW, each by its cheapest kernel", only(Layout::nchw), &ours},
      {"chwn", "every layer but the softmax in CHWN, each by its cheapest kernel",
       only(Layout::chwn), &ours},
      {"planned", "layouts and kernels by the cheapest plan", any_layout, &ours}};
  for (const Peer& peer : peers) {
    all.push_back({peer.name, peer.description, only(Layout::nchw), &peer.catalogue, &peer});
  }
  return all;
}

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

Keep keep_for(const Backend& backend) {
  // The simulator sees accesses beyond an array only if the array is as large as the map.
  return backend.observes() ? Keep::all : Keep::two;
}

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
    reason_ = group_->room_for(Chain::bytes(network, plan_, keep_for(backend)));
  }

  const std::string& reason() const { return reason_; }
  const Way& way() const { return way_; }
  const Plan& plan() const { return plan_; }

  Row row(const std::string& layer) const {
    Row row;
    row.stage = way_.peer != nullptr ? "peers" : kStage;
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
      chain_ = std::make_unique<Chain>(backend, group_->network(), plan_, group_->weights(),
                                       group_->on_device(), keep_for(backend));
      chain_->set_input(group_->input());
      alive = chain_->check(verdicts_, group_->seed(), kJudgedProducts, way_.peer == nullptr);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, group_->network().name(), error.what());
      alive = false;
    }
    int sampled = 0;
    simt::Counters counted;
    for (const LayerVerdict& verdict : verdicts_) {
      merge(verdict, row);
      counted += verdict.counted;
      sampled += verdict.sampled;
    }
    if (alive) {
      output_ = chain_->output();
      require_answers(row);
    } else {
      repair(backend, row);
    }
    ++row.check.shapes;
    settle("", backend, row);
    row.detail = std::to_string(plan_.transforms()) +
                 (plan_.transforms() == 1 ? " transform" : " transforms");
    if (sampled > 0)
      row.detail += "; of " + std::to_string(sampled) + " layers a sample is compared";
    fill_traffic(row, counted, 0, group_->network().layers().size(), alive);
    if (row.check.outcome != Outcome::good) chain_.reset();
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
    settle("", group_->backend(), row);
    row.layout = to_string(plan_.layers[layer].layout);
    if (chain_) row.detail = chain_->describe(layer);
    if (verdict.sampled) row.detail += "; a sample of the outputs is compared";
    fill_traffic(row, verdict.counted, layer, layer + 1, verdict.check.outcome != Outcome::not_run);
  }

  std::unique_ptr<Batch> batch(int calls) {
    return group_->backend().batch([this](int) { return chain_->launch(); }, calls);
  }
  std::unique_ptr<Batch> batch_of_layer(std::size_t layer, int calls) {
    return group_->backend().batch([this, layer](int) { return chain_->launch_layer(layer); },
                                   calls);
  }
  bool can_be_timed() const { return chain_ != nullptr; }
  // [N][categories] of the check; empty if it failed.
  const std::vector<float>& output() const { return output_; }

 private:
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

  void fill_traffic(Row& row, const simt::Counters& counted, std::size_t first, std::size_t end,
                    bool finished) const {
    simt::Counters predicted;
    std::string uncounted;
    double outputs = 0;
    for (std::size_t layer = first; layer < end; ++layer) {
      if (chain_ && group_->backend().observes()) chain_->predict(layer, predicted, uncounted);
      outputs = static_cast<double>(output_of(group_->network().layers()[layer]).size());
    }
    compare_traffic(
        uncounted, group_->backend(), finished && chain_ != nullptr, [&] { return predicted; },
        {counted}, outputs, group_->network().name(), row);
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

// The miniature networks, planned by the same rule from counted costs (which need no device).
void try_miniatures(Backend& backend, const Way& way, std::uint64_t seed, Row& row,
                    Progress& progress) {
  const std::unique_ptr<CostSource> source = counted_costs();
  for (const Network& network : miniature_networks()) {
    progress.show(std::string(kStage) + " " + way.name + ": " + network.name());
    ++seed;
    try {
      const Costs costs = price_network(network, *way.catalogue, *source, progress);
      const Plan plan = cheapest_plan(costs, way.rule);
      const Weights weights = random_weights(network, seed);
      const DeviceWeights on_device(backend, network, weights);
      Chain chain(backend, network, plan, weights, on_device, Keep::all);
      chain.set_input(random_input(network, seed));
      std::vector<LayerVerdict> verdicts;
      const bool alive = chain.check(verdicts, seed, kJudgedProducts, true);
      ++row.check.shapes;
      for (const LayerVerdict& verdict : verdicts) {
        row.check.worst_share = std::max(row.check.worst_share, verdict.check.worst_share);
        if (verdict.check.outcome == Outcome::bad && row.check.outcome != Outcome::bad) {
          row.check.outcome = Outcome::bad;
          row.check.reason = verdict.check.reason;
        }
        if (verdict.hazards.outcome != Outcome::bad) continue;
        row.hazards = verdict.hazards;
      }
      if (!alive) repair(backend, row);
    } catch (const std::runtime_error& error) {
      add_failure(row.check, network.name(), error.what());
    }
    if (row.check.outcome == Outcome::bad) return;
  }
}

// ---- All ways of one network ----

struct Outcomes {
  std::vector<Row> whole;
  std::vector<Row> layers;
  std::vector<float> output;  // of the last way that succeeded
  std::string answered_by;
};

struct HowToRun {
  bool trials = false;
  bool times = true;
  TimingSettings timing;
};

Outcomes run_task(const Task& task, const std::vector<Way>& all_ways,
                  std::map<const MakeCatalogue*, std::unique_ptr<CostSource>>& sources,
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
      known =
          costs
              .emplace(way.catalogue, skip ? Costs{task.network, "", {}}
                                           : price_network(task.network, *way.catalogue,
                                                           *sources.at(way.catalogue), progress))
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
        try_small = [&] { try_miniatures(backend, run->way(), seed, row, shown); };
      }
      check_candidate(row, shown, run->reason(), try_small, [&] { run->check(row); });
      settle("", backend, row);
    };
    if (run->reason().empty() && backend.times() && how.times) {
      candidate.batch = [run](int calls, Cache) { return run->batch(calls); };
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
      if (!run->reason().empty()) continue;
      Candidate candidate;
      candidate.row = run->row(layer.name);
      candidate.check = [run, i](Row& row, Progress&) { run->check_layer(i, row); };
      if (backend.times() && how.times && run->can_be_timed()) {
        candidate.batch = [run, i](int calls, Cache) { return run->batch_of_layer(i, calls); };
        candidate.min_bytes = static_cast<double>(min_bytes(layer));
        candidate.flops = static_cast<double>(flops(layer));
      }
      parts.push_back(std::move(candidate));
    }
  }
  outcomes.layers = run_candidates(parts, backend, progress, kLeanTiming);
  for (const std::shared_ptr<Run>& run : runs) {
    if (run->output().empty() || run->way().peer != nullptr) continue;
    outcomes.output = run->output();
    outcomes.answered_by = run->way().name;
  }
  return outcomes;
}

// ---- Text ----

// The layers of one network in lines, a column for each way: microseconds where there are any, else
// sectors of global memory.
void print_layers(const std::vector<Row>& rows, const std::vector<Way>& all_ways,
                  const TableOptions& options) {
  if (rows.empty()) return;
  const bool timed = std::any_of(rows.begin(), rows.end(),
                                 [](const Row& row) { return row.time.outcome == Outcome::good; });
  const auto text_of = [](const Row& row, const std::string& name) {
    for (const auto& [field, value] : row.problem) {
      if (field == name)
        return std::holds_alternative<std::string>(value)
                   ? std::get<std::string>(value)
                   : std::to_string(std::get<std::int64_t>(value));
    }
    return std::string();
  };
  Table table;
  table.title = text_of(rows.front(), "network") + " on " + text_of(rows.front(), "N") +
                (text_of(rows.front(), "N") == "1" ? " image" : " images") + ", layer by layer: " +
                (timed ? "microseconds" : "sectors of global memory, counted");
  table.columns = {{"layer", false}};
  for (const Way& way : all_ways) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Row& row) { return row.variant == way.name; })) {
      table.columns.push_back({way.name, true});
    }
  }
  table.columns.push_back({"planned: how", false});
  for (const Row& row : rows) {
    const std::string layer = text_of(row, "layer");
    if (table.rows.empty() || table.rows.back().front().text != layer) {
      table.rows.emplace_back(table.columns.size(), Cell{"-"});
      table.rows.back().front().text = layer;
    }
    std::vector<Cell>& cells = table.rows.back();
    for (std::size_t i = 1; i + 1 < table.columns.size(); ++i) {
      if (table.columns[i].header != row.variant) continue;
      if (row.check.outcome != Outcome::good || row.hazards.outcome == Outcome::bad ||
          row.traffic.outcome == Outcome::bad) {
        cells[i] = {row.check.outcome == Outcome::not_run ? "NOT RUN" : "FAIL", Tone::bad};
      } else if (timed && row.time.outcome == Outcome::good) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", row.time.hot.median_ms * 1e3);
        cells[i] = {text};
      } else if (!timed) {
        std::uint64_t sectors = 0;
        for (const auto& [name, value] : row.traffic.counted) {
          if (name == "global_load_sectors" || name == "global_store_sectors") sectors += value;
        }
        cells[i] = {row.traffic.counted.empty() ? "not counted"
                                                : with_commas(static_cast<std::int64_t>(sectors))};
      }
    }
    if (row.variant == "planned") cells.back() = {row.detail};
  }
  std::printf("\n%s", lay_out(table, options).c_str());
}

void print_digit(const std::string& path, const std::vector<float>& probabilities,
                 const std::string& way) {
  std::printf("\n%s\n", path.c_str());
  for (std::size_t digit = 0; digit < probabilities.size(); ++digit) {
    const double probability = probabilities[digit];
    const auto length = static_cast<std::size_t>(std::max(0.0, probability) * 40 + 0.5);
    const std::string bar(std::min<std::size_t>(length, 40), '#');
    std::printf("  %zu  %6.2f %%%s\n", digit, probability * 100,
                bar.empty() ? "" : ("  " + bar).c_str());
  }
  std::printf("It is a %d, says %s.\n",
              answer(probabilities.data(), static_cast<int>(probabilities.size())), way.c_str());
}

// ---- What to run ----

Network network_named(const std::string& name, std::int64_t images) {
  try {
    return make_network(name, static_cast<int>(images));
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::int64_t> batches_of(const Options& options, const std::string& network,
                                     const Backend& backend) {
  std::vector<std::int64_t> batches;
  if (!options.batch.empty()) {
    for (const std::string& text : split(options.batch)) {
      batches.push_back(parse_number("batch", text, 1, 1'000'000));
      if (std::count(batches.begin(), batches.end(), batches.back()) > 1) {
        throw UsageError("--batch: " + text + " is given twice");
      }
    }
    return batches;
  }
  if (!options.input.empty()) return {1};
  if (backend.observes()) return {network == "digits" ? 64 : network == "lenet" ? 2 : 1};
  if (options.bench) return {1, paper_batch(network)};
  return {paper_batch(network)};
}

Task make_task(const Options& options, const Network& network) {
  Task task{network};
  const bool digits = network.name() == "digits";
  const std::string folder = digits ? digits_folder() : "";
  if (!options.weights.empty() || digits) {
    task.weights = std::make_shared<Weights>(
        read_weights(network, options.weights.empty() ? folder + "/weights" : options.weights));
  }
  if (!options.input.empty()) {
    task.input = read_picture_for(network, options.input);
  } else if (digits) {
    // The test pictures, over and over if there are not enough.
    const TestDigits test = read_test_digits(folder);
    for (int n = 0; n < network.images(); ++n) {
      const std::size_t from = static_cast<std::size_t>(n) % test.count();
      task.input.insert(task.input.end(), &test.pictures[from * 64],
                        &test.pictures[from * 64] + 64);
      if (options.weights.empty()) task.expected.push_back(test.predictions[from]);
    }
  }
  return task;
}

std::vector<Task> make_tasks(const Options& options, const Backend& backend) {
  std::vector<std::string> names;
  if (!options.network.empty()) {
    names = split(options.network);
  } else if (!options.input.empty() || (!options.weights.empty())) {
    names = {"digits"};
  } else {
    names = network_names();
  }
  if (!options.weights.empty() && names.size() > 1) {
    throw UsageError("--weights is for one network");
  }
  if (!options.input.empty() && names != std::vector<std::string>{"digits"}) {
    throw UsageError("--input is for the network digits: the others have no trained weights");
  }
  if (!options.input.empty() && !options.batch.empty()) {
    throw UsageError("--input is one picture: leave --batch out");
  }
  if (!options.input.empty() && (options.bench || options.plan)) {
    throw UsageError("--input runs the network: leave --bench and --plan out");
  }
  std::vector<Task> tasks;
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (!known.insert(name).second) throw UsageError("--network: " + name + " is given twice");
    network_named(name, 1);  // a wrong name is the first complaint
    for (const std::int64_t images : batches_of(options, name, backend)) {
      tasks.push_back(make_task(options, network_named(name, images)));
    }
  }
  return tasks;
}

std::unique_ptr<CostSource> source_for(Backend& backend) {
  return backend.times() ? measured_costs(backend) : counted_costs();
}

void print_plan(const Network& network, const MakeCatalogue& ours, CostSource& source,
                Backend& backend, Progress& progress) {
  const Costs costs = price_network(network, ours, source, progress);
  progress.clear();
  const Plan plan = cheapest_plan(costs, any_layout);
  std::vector<std::pair<std::string, std::string>> others;
  const auto add = [&](const std::string& name, const LayoutRule& rule) {
    std::string total;
    try {
      const Plan other = cheapest_plan(costs, rule);
      total =
          in_words(other.cost, costs.unit) + ", transforms: " + std::to_string(other.transforms());
    } catch (const std::runtime_error& error) {
      total = error.what();
    }
    others.emplace_back(name, total);
  };
  add("all NCHW", only(Layout::nchw));
  add("all CHWN", only(Layout::chwn));
  for (const auto& thresholds : layout_convolution::published_thresholds()) {
    add("the paper's rule, " + thresholds.name, paper_rule(thresholds.Ct, thresholds.Nt));
  }
  std::string text = explain(costs, plan, source.describe(), others);
  const std::int64_t bytes =
      Chain::weight_bytes(network) + Chain::bytes(network, plan, keep_for(backend));
  text += "memory: " + with_commas((bytes >> 20) + 1) + " MiB\n";
  std::fputs(text.c_str(), stdout);
}

int run(int argc, const char* const* argv, const std::vector<Peer>& peers, Backend& backend) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  const MakeCatalogue ours = our_catalogue;
  std::vector<Way> all_ways = ways(ours, peers);
  if (options.list) {
    for (const Way& way : all_ways) {
      list_variant(way.name, way.peer != nullptr ? "peer" : "", way.description,
                   way.peer != nullptr ? way.peer->unavailable : "");
    }
    return 0;
  }
  if (options.no_peers) std::erase_if(all_ways, [](const Way& way) { return way.peer != nullptr; });
  if (options.plan && options.bench) throw UsageError("--plan and --bench: one of them, not both");
  if (!options.variant.empty()) {
    std::string names;
    for (const Way& way : all_ways) names += " " + way.name;
    std::erase_if(all_ways, [&](const Way& way) { return way.name != options.variant; });
    if (all_ways.empty()) {
      throw UsageError("variant '" + options.variant + "' is not in stage " + kStage +
                       "; it has:" + names);
    }
  }
  const std::vector<Task> tasks = make_tasks(options, backend);
  const std::uint64_t seed = make_seed(options.seed);
  const TableOptions table{use_color(options.out.color, stdout)};
  if (!options.out.json.empty()) data::require_writable(options.out.json);
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", kStage, reason.c_str());
    return 77;
  }
  Progress progress;
  std::map<const MakeCatalogue*, std::unique_ptr<CostSource>> sources;
  for (const Way& way : all_ways) {
    auto& source = sources[way.catalogue];
    if (!source) source = source_for(backend);
  }
  if (options.plan) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i > 0) std::printf("\n");
      const std::unique_ptr<CostSource> source = source_for(backend);
      print_plan(tasks[i].network, ours, *source, backend, progress);
    }
    return 0;
  }

  std::vector<std::string> versions;
  for (const Peer& peer : peers) versions.push_back(peer.version);
  Results results = begin_results(argc, argv, seed, backend, versions);
  announce_seed(seed);
  const bool reaches_roof = std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
    return task.network.products() >= kRoofProducts;
  });
  if (backend.times() && !options.no_times && reaches_roof) {
    measure_roofs(results, backend, progress);
  }
  std::vector<Row> whole;
  std::vector<std::vector<Row>> layers;
  Outcomes last;
  for (const Task& task : tasks) {
    HowToRun how;
    how.trials = &task == &tasks.front() && options.input.empty() && !options.no_trials;
    how.times = !options.no_times;
    // Dozens of layers each: only one network alone has the time for more rounds.
    if (options.bench || tasks.size() > 1) how.timing = kLeanTiming;
    last = run_task(task, all_ways, sources, backend, seed, how, progress);
    whole.insert(whole.end(), last.whole.begin(), last.whole.end());
    layers.push_back(last.layers);
    results.rows.insert(results.rows.end(), last.whole.begin(), last.whole.end());
    results.rows.insert(results.rows.end(), last.layers.begin(), last.layers.end());
  }
  fill_shares(results.rows, results.machine);
  fill_shares(whole, results.machine);
  progress.clear();

  std::fputs(render_table(whole, table).c_str(), stdout);
  if (options.input.empty()) {
    for (const std::vector<Row>& rows : layers) print_layers(rows, all_ways, table);
  }
  const int status = exit_status(results.rows);
  if (!options.input.empty()) {
    if (!last.output.empty() && status == 0) {
      print_digit(options.input, last.output, last.answered_by);
    } else {
      std::fprintf(stderr, "%s: no answer: the network did not pass its check\n", kStage);
    }
  }
  std::fflush(stdout);
  if (!options.out.json.empty()) write_json(options.out.json, results);
  return status;
}

}  // namespace

int run_network(int argc, const char* const* argv, const std::vector<Peer>& peers,
                std::unique_ptr<Backend> backend) {
  return guarded_main(argc > 0 ? argv[0] : kStage,
                      [&] { return run(argc, argv, peers, *backend); });
}

}  // namespace halo::network
