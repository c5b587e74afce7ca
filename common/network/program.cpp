// Which networks, planned from which costs, and what is printed of them.
#include "common/harness/core/program.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/harness/program_options.hpp"
#include "common/network/chain.hpp"
#include "common/network/costs.hpp"
#include "common/network/digits.hpp"
#include "common/network/layout_choice.hpp"
#include "common/network/networks.hpp"
#include "common/network/run.hpp"
#include "common/report/json.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/text.hpp"

namespace halo::network {

namespace {

using conv::Layout;

// Layers of networks with fewer products reach no roof.
constexpr std::int64_t kRoofProducts = 1'000'000'000;

struct Options : ProgramOptions {
  std::string network;
  std::string batch;
  std::string input;
  std::string weights;
  bool plan = false;
  bool bench = false;
};

bool parse(int argc, const char* const* argv, const std::string& stage, Options& options) {
  std::string names;
  for (const std::string& name : network_names()) names += (names.empty() ? "" : ", ") + name;
  const std::string program = program_name(argc, argv, stage);
  CommandLine line(stage + ": whole networks, planned, checked and measured",
                   "Examples:\n  " + program + " --input digit.png\n  " + program +
                       " --network lenet,alexnet --batch 128\n  " + program +
                       " --plan --network cifar10 --batch 64\n"
                       "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 74 results "
                       "could not be written, "
                       "77 not run.");
  add_option(line, "network", "--network", options.network, ": " + names);
  add_option(line, "network", "--batch", options.batch);
  add_option(line, "network", "--input", options.input);
  add_option(line, "network", "--weights", options.weights);
  line.flag("--plan", options.plan, "print what is chosen for each layer, and why, and stop");
  line.flag("--bench", options.bench, "all networks, on 1 image and on the paper's batch");
  add_program_options(line, "network", options);
  return line.parse(argc, argv);
}

// ---- Text ----

// The layers of one network in lines, a column for each way: microseconds where there are any, else
// sectors of global memory.
void print_layers(const std::vector<Row>& rows, const std::vector<Way>& all_ways,
                  const TableOptions& options) {
  if (rows.empty()) return;
  const bool timed = std::any_of(rows.begin(), rows.end(),
                                 [](const Row& row) { return row.time.outcome == Outcome::good; });
  const std::string images = exact_value(rows.front().problem, "N");
  Table table;
  table.title = exact_value(rows.front().problem, "network") + " on " + images +
                (images == "1" ? " image" : " images") + ", layer by layer: " +
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
    const std::string layer = exact_value(row.problem, "layer");
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
    if (row.variant.starts_with("planned") && cells.back().text == "-") {
      cells.back() = {row.detail};
    }
  }
  std::printf("\n%s", lay_out(table, options).c_str());
}

std::string percent(double probability) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", probability * 100);
  return text;
}

// The answer first: "It is a 7 (99.4 %).    9: 0.4 %   8: 0.1 %", then who says so, and how that was
// checked.
void print_answer(const Outcomes& outcomes) {
  const std::vector<float>& probabilities = outcomes.output;
  std::vector<std::size_t> digits(probabilities.size());
  std::iota(digits.begin(), digits.end(), 0);
  std::stable_sort(digits.begin(), digits.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] > probabilities[b];
  });
  std::string text =
      "It is a " + std::to_string(digits[0]) + " (" + percent(probabilities[digits[0]]) + "). ";
  constexpr std::size_t kRunnersUp = 3;
  for (std::size_t i = 1; i < std::min(digits.size(), kRunnersUp + 1); ++i) {
    text += "   " + std::to_string(digits[i]) + ": " + percent(probabilities[digits[i]]);
  }
  std::vector<std::string> others;
  for (const Row& row : outcomes.whole) {
    if (row.variant != outcomes.answered_by && row.check.outcome == Outcome::good) {
      others.push_back(row.variant);
    }
  }
  const bool searched =
      std::any_of(outcomes.whole.begin(), outcomes.whole.end(),
                  [](const Row& row) { return row.hazards.outcome == Outcome::good; });
  text += "\nby " + outcomes.answered_by + ", right within its error bound" +
          (searched ? ", no hazards" : "");
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += (i == 0 ? "; " : i + 1 < others.size() ? ", " : " and ") + others[i];
  }
  if (!others.empty()) text += others.size() == 1 ? " agrees" : " agree";
  std::printf("%s\n\n", text.c_str());
}

void print_digit(const std::string& path, const std::vector<float>& probabilities) {
  std::printf("\n%s\n", path.c_str());
  for (std::size_t digit = 0; digit < probabilities.size(); ++digit) {
    const double probability = probabilities[digit];
    const auto length = static_cast<std::size_t>(std::max(0.0, probability) * 40 + 0.5);
    const std::string bar(std::min<std::size_t>(length, 40), '#');
    std::printf("  %zu  %6.2f %%%s\n", digit, probability * 100,
                bar.empty() ? "" : ("  " + bar).c_str());
  }
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

Task make_task(const Options& options, const NetworkStage& stage, const Network& network) {
  Task task{network};
  const bool digits = network.name() == "digits";
  if (!options.weights.empty() || digits) {
    task.weights = std::make_shared<Weights>(read_weights(
        network, options.weights.empty() ? stage.digits + "/weights" : options.weights));
  }
  if (!options.input.empty()) {
    task.input = read_picture_for(network, options.input);
  } else if (digits) {
    // The test pictures, over and over if there are not enough.
    const TestDigits test = read_test_digits(stage.digits);
    for (int n = 0; n < network.images(); ++n) {
      const std::size_t from = static_cast<std::size_t>(n) % test.count();
      task.input.insert(task.input.end(), &test.pictures[from * 64],
                        &test.pictures[from * 64] + 64);
      if (options.weights.empty()) task.expected.push_back(test.predictions[from]);
    }
  }
  return task;
}

std::vector<Task> make_tasks(const Options& options, const NetworkStage& stage,
                             const Backend& backend) {
  std::vector<std::string> names;
  if (!options.network.empty()) {
    names = split(options.network);
  } else if (!options.input.empty() || (!options.weights.empty())) {
    names = {"digits"};
  } else if (backend.times() && !options.bench && !options.plan) {
    // What takes seconds: pricing and checking the others, each kernel of each layer, takes a minute.
    names = {"digits", "lenet"};
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
      tasks.push_back(make_task(options, stage, network_named(name, images)));
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
  for (const auto& thresholds : published_thresholds()) {
    add("the paper's rule, " + thresholds.name, paper_rule(thresholds.Ct, thresholds.Nt));
  }
  std::string text = explain(costs, plan, source.describe(), others);
  const std::int64_t bytes =
      Chain::weight_bytes(network) + Chain::bytes(network, plan, keep_for(backend));
  text += "memory: " + with_commas((bytes >> 20) + 1) + " MiB\n";
  std::fputs(text.c_str(), stdout);
}

int run(int argc, const char* const* argv, const NetworkStage& stage,
        const std::vector<Peer>& peers, Backend& backend) {
  Options options;
  if (!parse(argc, argv, stage.name, options)) return 0;
  std::vector<Way> all_ways = ways(stage, peers);
  if (options.list) {
    for (const Way& way : all_ways) {
      list_variant(way.name, way.peer != nullptr ? "peer" : "", way.description,
                   way.peer != nullptr ? way.peer->unavailable : "");
    }
    return 0;
  }
  if (options.no_peers) std::erase_if(all_ways, [](const Way& way) { return way.peer != nullptr; });
  if (options.plan && options.bench) throw UsageError("--plan and --bench: one of them, not both");
  // Unless somebody asks for them: where nothing is timed they say no more than `planned`.
  if (!backend.times() && options.variant.empty()) {
    std::erase_if(all_ways, [](const Way& way) { return way.overlaps || way.split; });
  }
  if (!options.variant.empty()) {
    std::string names;
    std::vector<std::string> choices;
    for (const Way& way : all_ways) {
      names += " " + way.name;
      choices.push_back(way.name);
    }
    std::erase_if(all_ways, [&](const Way& way) { return way.name != options.variant; });
    if (all_ways.empty()) {
      throw UsageError("variant " + data::quoted(options.variant) + " is not in stage " +
                       stage.name + data::did_you_mean(options.variant, choices) +
                       " (it has:" + names + ")");
    }
  }
  leave_out(all_ways, options.without, [](const Way& way) { return way.name; });
  const std::vector<Task> tasks = make_tasks(options, stage, backend);
  const std::uint64_t seed = make_seed(options.seed);
  const TableOptions table = table_options(options.out.color, stdout);
  if (!options.out.json.empty()) prepare_json(options.out.json);
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", stage.name.c_str(), reason.c_str());
    return 77;
  }
  Progress progress;
  const std::unique_ptr<CostSource> source = source_for(backend);
  if (options.plan) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i > 0) std::printf("\n");
      print_plan(tasks[i].network, stage.catalogue, *source, backend, progress);
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
    last = run_task(task, all_ways, *source, backend, seed, how, progress);
    whole.insert(whole.end(), last.whole.begin(), last.whole.end());
    layers.push_back(last.layers);
    results.rows.insert(results.rows.end(), last.whole.begin(), last.whole.end());
    results.rows.insert(results.rows.end(), last.layers.begin(), last.layers.end());
  }
  fill_shares(results.rows, results.machine);
  fill_shares(whole, results.machine);
  progress.clear();

  const int status = exit_status(results.rows, options.out.strict);
  const bool answers = !options.input.empty() && !last.output.empty() && status == 0;
  if (answers) print_answer(last);
  std::fputs(render_table(whole, table).c_str(), stdout);
  if (options.input.empty()) {
    for (const std::vector<Row>& rows : layers) print_layers(rows, all_ways, table);
  }
  if (answers) {
    print_digit(options.input, last.output);
  } else if (!options.input.empty()) {
    std::fprintf(stderr, "%s: no answer: the network did not pass its check\n", stage.name.c_str());
  }
  std::fflush(stdout);
  if (!options.out.json.empty()) write_json(options.out.json, results);
  return status;
}

}  // namespace

int run_network(int argc, const char* const* argv, const NetworkStage& stage,
                const std::vector<Peer>& peers, std::unique_ptr<Backend> backend) {
  return guarded_main(argc > 0 ? argv[0] : stage.name.c_str(),
                      [&] { return run(argc, argv, stage, peers, *backend); });
}

}  // namespace halo::network
