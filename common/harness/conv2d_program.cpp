// The command line of a 2D stage's program, and the layers it makes from it.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/data/layer_table.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/conv2d.hpp"
#include "common/harness/conv2d_bench.hpp"
#include "common/harness/conv2d_candidates.hpp"
#include "common/harness/conv2d_picture.hpp"
#include "common/harness/family_program.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

// Layers with fewer products reach no roof: measuring one would take longer than they do.
constexpr std::int64_t kRoofProducts = 10'000'000;
constexpr std::int64_t kMostImages = 1'000'000;

// One filter on one channel, many filters, many channels, and 1 x 1; small for the simulator, on a GPU
// as large as the papers' are.
constexpr const char* kSimulatedLayers = "30-1-3-1-1-p0,28-1-3-16-1,14-1-3-24-16,14-1-1-32-16";
constexpr const char* kMeasuredLayers = "1024-1-3-1-1-p0,224-1-3-64-1,56-1-3-64-64,14-1-1-256-512";

struct Options : FamilyOptions {
  std::string layer;
  std::string layers;
  std::string batch;
  std::string gpu;
  std::string set;
  bool plan = false;
  bool search = false;
  bool bench = false;
  bool resume = false;
  PictureOptions picture;
};

using Stages = std::vector<Conv2dStage>;
using Layers = std::vector<conv::ConvLayer>;

bool parse(int argc, const char* const* argv, const Stages& stages, Options& options) {
  const std::string name = program_name(argc, argv, stages.front().name);
  CommandLine line(
      title(stages) + ": runs, checks and measures the variants",
      "A layer is named size-batch-filter-filters-channels: 7-1-3-384-192 is one 7 x 7 "
      "image of 192 channels\nand 384 filters of 3 x 3. What is not square is 7x9 (rows "
      "x columns); -s2 and -p0 behind it give stride and\npadding, which are else 1 and "
      "(filter - 1) / 2.\n"
      "Examples:\n"
      "  " +
          name +
          " --layer 56-1-3-64-64,112-1-7-64-3-s2\n"
          "  " +
          name +
          " --layers cuconv --batch 1,8\n"
          "  " +
          name +
          " --input photo.png --filter sobel --output edges.png\n"
          "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 77 not run.");
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& one : names) text += (text.empty() ? "" : ", ") + one;
    return text;
  };
  const std::string tables = listed(data::paper_layer_tables());
  const std::string sets = bench_set_names("conv2d");
  line.option("--layer", "LABEL[,LABEL]", options.layer, "these layers");
  line.option("--layers", "TABLE", options.layers, "the layers of a CSV file, or of " + tables);
  line.option("--batch", "N[,N]", options.batch, "each layer with so many images");
  line.flag("--bench", options.bench,
            "the papers' layers, each timed briefly; with --layer or --layers those");
  line.option("--set", "NAME", options.set, "with --bench: only this paper's layers: " + sets);
  line.flag("--resume", options.resume,
            "with --bench and --json: go on where the file ends that an earlier run left");
  line.flag("--search", options.search,
            "beside the variants, the same with other numbers, to find this GPU's best");
  line.flag("--plan", options.plan, "print how the stage would divide each layer, and stop");
  line.option("--gpu", "KEY", options.gpu, "with --plan: for this GPU, not the present one");
  add_picture_options(line, options.picture);
  add_family_options(line, options);
  return line.parse(argc, argv);
}

// What is wrong with a layer, and which option said so.
template <class Make>
conv::ConvLayer made_by(const std::string& option, Make make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    throw UsageError(option + ": " + error.what());
  }
}

Layers layers_named(const std::string& labels) {
  Layers layers;
  for (const std::string& label : split(labels)) {
    layers.push_back(made_by("--layer " + label, [&] { return conv::parse_label(label); }));
  }
  return layers;
}

Layers layers_of_table(const std::string& name) {
  const std::vector<std::string> tables = data::paper_layer_tables();
  const bool is_table = std::find(tables.begin(), tables.end(), name) != tables.end();
  // A name without a dot or a slash was meant as a table of ours: its complaint lists them.
  const bool is_file = !is_table && name.find_first_of("./") != std::string::npos;
  Layers layers;
  for (const data::NamedLayer& named :
       is_file ? data::read_layer_table(name) : data::paper_layer_table(name)) {
    layers.push_back(named.layer);
  }
  return layers;
}

// The picture that --input names; null without it.
std::unique_ptr<PictureTask> choose_picture(const Options& options) {
  if (options.picture.input.empty()) {
    for (const auto& [name, value] : {std::pair{"--filter", options.picture.filter},
                                      std::pair{"--output", options.picture.output}}) {
      if (!value.empty())
        throw UsageError(std::string(name) + " needs --input: a picture to run on");
    }
    return nullptr;
  }
  for (const auto& [name, value] :
       {std::pair{"--layer", options.layer}, std::pair{"--layers", options.layers},
        std::pair{"--batch", options.batch}}) {
    if (!value.empty()) {
      throw UsageError(std::string(name) + ": the picture given by --input is the layer");
    }
  }
  return std::make_unique<PictureTask>(options.picture);
}

// The last variant that takes the layer: its outputs are saved. Throws UsageError if there is none.
std::string variant_to_save(const std::vector<Conv2dEntry>& entries, const conv::ConvLayer& layer) {
  std::string reason;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const Conv2dVariant& variant = entry->variant;
    const std::string why =
        variant.unavailable.empty() ? refusal(variant, layer) : variant.unavailable;
    if (why.empty()) return variant.name;
    if (reason.empty()) reason = variant.name + ": " + why;
  }
  throw UsageError("no variant takes this picture with this filter (" + reason + ")");
}

std::vector<std::int64_t> parse_batches(const std::string& text) {
  std::vector<std::int64_t> batches;
  if (text.empty()) return batches;
  for (const std::string& images : split(text)) {
    batches.push_back(parse_number("batch", images, 1, kMostImages));
  }
  return batches;
}

// The layers of a run that names none: a single stage may have its own.
std::string usual_layers(const Stages& stages, const Backend& backend) {
  const Conv2dStage& stage = stages.front();
  const std::string& own = backend.times() ? stage.measured_layers : stage.simulated_layers;
  if (stages.size() == 1 && !own.empty()) return own;
  return backend.times() ? kMeasuredLayers : kSimulatedLayers;
}

Layers choose_layers(const Options& options, const Stages& stages, const Backend& backend) {
  if (!options.layer.empty() && !options.layers.empty()) {
    throw UsageError("--layer and --layers: one of them names the layers, not both");
  }
  Layers layers = !options.layers.empty()  ? layers_of_table(options.layers)
                  : !options.layer.empty() ? layers_named(options.layer)
                                           : layers_named(usual_layers(stages, backend));
  if (!options.batch.empty()) {
    Layers batches;
    for (const std::int64_t images : parse_batches(options.batch)) {
      for (const conv::ConvLayer& layer : layers) {
        batches.push_back(
            made_by("--batch " + std::to_string(images) + ", layer " + conv::label(layer),
                    [&] { return layer.with_batch(images); }));
      }
    }
    layers = batches;
  }
  std::set<std::string> labels;
  for (const conv::ConvLayer& layer : layers) {
    if (!labels.insert(conv::label(layer)).second) {
      throw UsageError("the layer " + conv::label(layer) + " is given twice");
    }
  }
  return layers;
}

std::vector<Conv2dEntry> choose(const Stages& stages, const Options& options) {
  std::vector<Conv2dEntry> chosen;
  bool searched = false;
  for (const Conv2dStage& stage : stages) {
    for (const Conv2dVariant& variant : stage.variants) chosen.push_back({stage.name, variant});
    if (!options.search) continue;
    for (const Conv2dVariant& variant : stage.searched) chosen.push_back({stage.name, variant});
    searched |= !stage.searched.empty();
  }
  if (options.search && !searched) {
    throw UsageError("--search: stage " + title(stages) + " has no numbers to search for");
  }
  const std::string& name = options.variant;
  keep_variant(chosen, name, title(stages));
  // A stage may bring peers of its own.
  if (options.no_peers) {
    std::erase_if(chosen, [](const auto& entry) { return entry.variant.role == Role::peer; });
  }
  return chosen;
}

void list_variants(const Stages& stages, const std::vector<Conv2dVariant>& peers) {
  const auto list = [](const Conv2dVariant& variant) {
    list_variant(variant.name, variant.role == Role::peer ? "peer" : "", variant.description,
                 variant.unavailable);
  };
  for (const Conv2dStage& stage : stages) {
    for (const Conv2dVariant& variant : stage.variants) list(variant);
  }
  for (const Conv2dVariant& peer : peers) list(peer);
}

// `chosen`: somebody asked for these very layers. Of our own, those that a stage does not take are left
// out.
void print_plans(const Stages& stages, const Layers& layers, bool chosen, const std::string& gpu) {
  for (const Conv2dStage& stage : stages) {
    if (stage.plan) continue;
    throw UsageError("stage " + stage.name + " has no plan: it divides every layer alike");
  }
  // All of them before the first is printed: a complaint stands alone.
  std::string text;
  for (const Conv2dStage& stage : stages) {
    for (const conv::ConvLayer& layer : layers) {
      const auto takes = [&](const Conv2dVariant& variant) {
        return refusal(variant, layer).empty();
      };
      if (!chosen && std::none_of(stage.variants.begin(), stage.variants.end(), takes)) continue;
      if (!text.empty()) text += "\n";
      text += stage.plan(layer, gpu);
      if (text.back() != '\n') text += "\n";
    }
  }
  std::fputs(text.c_str(), stdout);
}

// Everything that can be wrong with the command is found before anything runs.
void require_sense(const Options& options) {
  if (!options.gpu.empty() && !options.plan) {
    throw UsageError("--gpu is for --plan: programs run on the GPU that is here");
  }
  if (options.bench && !options.picture.input.empty()) {
    throw UsageError("--bench and --input: one of them, not both");
  }
  if (options.plan && options.bench) throw UsageError("--plan and --bench: one of them, not both");
  if (!options.bench && !options.set.empty()) throw UsageError("--set is for --bench");
  if (options.bench && options.no_trials) {
    throw UsageError("--no-trials is not for --bench: what is timed was checked before");
  }
  if (!options.bench && options.resume) throw UsageError("--resume is for --bench");
  if (!options.set.empty() && (!options.layer.empty() || !options.layers.empty())) {
    throw UsageError("--set has its own layers: leave --layer and --layers out");
  }
  if (options.resume && options.out.json.empty()) {
    throw UsageError("--resume needs --json: the file to take up again");
  }
}

std::vector<Conv2dEntry> entries_of(const std::vector<Conv2dVariant>& peers) {
  std::vector<Conv2dEntry> entries;
  for (const Conv2dVariant& peer : peers) entries.push_back({"peers", peer});
  return entries;
}

// Candidates for each layer as `task` has it for the first; its trials only before that one.
std::vector<Candidate> candidates_for(const Layers& layers, const std::vector<Conv2dEntry>& entries,
                                      Backend& backend, Conv2dTask task) {
  std::vector<Candidate> candidates;
  for (const conv::ConvLayer& layer : layers) {
    task.layer = layer;
    task.too_large = too_large_for(layer, backend, true);
    add_candidates(candidates, entries, backend, task);
    task.trials.clear();
  }
  return candidates;
}

int run(int argc, const char* const* argv, const Stages& stages,
        const std::vector<Conv2dVariant>& all_peers, Backend& backend) {
  Options options;
  if (!parse(argc, argv, stages, options)) return 0;
  if (options.list) {
    list_variants(stages, all_peers);
    return 0;
  }
  require_sense(options);
  std::vector<Conv2dEntry> entries = choose(stages, options);
  const std::vector<Conv2dEntry> peers =
      options.no_peers ? std::vector<Conv2dEntry>{} : entries_of(all_peers);
  const bool own_layers = !options.layer.empty() || !options.layers.empty();
  const std::unique_ptr<PictureTask> picture = choose_picture(options);
  Layers layers;
  std::vector<LayerJob> jobs;
  if (picture) {
    layers = {picture->data().layer};
  } else if (options.bench && !own_layers) {
    jobs = layer_jobs(options.set, parse_batches(options.batch), entries);
    for (const LayerJob& job : jobs) layers.push_back(job.layer);
  } else {
    layers = choose_layers(options, stages, backend);
    for (const conv::ConvLayer& layer : layers) jobs.push_back({layer, entries});
  }
  const std::uint64_t seed = make_seed(options.seed);
  use_color(options.out.color, stdout);
  if (!options.out.json.empty()) data::require_writable(options.out.json);
  if (options.plan) {
    print_plans(stages, layers, own_layers, options.gpu);
    return 0;
  }
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", title(stages).c_str(), reason.c_str());
    return 77;
  }
  std::vector<std::string> versions;
  for (const Conv2dVariant& peer : all_peers) versions.push_back(peer.version);
  Results results = begin_results(argc, argv, seed, backend, versions);
  const BenchOptions bench{"layer", options.out.json, options.resume, !options.no_times};
  const std::vector<BenchJob> bench_work = bench_jobs(jobs, peers, backend);
  if (options.bench) results = take_up(results, bench_work, bench, !options.seed.empty());

  std::string saved_variant;
  std::vector<float> saved;
  if (picture) {
    if (const std::string reason = too_large_for(layers.front(), backend, true); !reason.empty()) {
      std::fprintf(stderr, "%s: NOT RUN: %s is %s\n", title(stages).c_str(),
                   options.picture.input.c_str(), reason.c_str());
      return 77;
    }
    if (!options.picture.output.empty()) saved_variant = variant_to_save(entries, layers.front());
  }

  announce_seed(results.seed);
  Progress progress;
  const bool reaches_roof = std::any_of(layers.begin(), layers.end(), [](const auto& layer) {
    return conv::products(layer) >= kRoofProducts;
  });
  if (backend.times() && !options.no_times && reaches_roof && results.machine.roofs.empty()) {
    measure_roofs(results, backend, progress);
  }
  if (options.bench) {
    run_jobs(bench_work, backend, bench, results, progress);
  } else {
    entries.insert(entries.end(), peers.begin(), peers.end());
    Conv2dTask task{.layer = layers.front(), .seed = seed};
    if (picture) task.data = std::make_shared<Conv2dData>(picture->data());
    task.saved_variant = saved_variant;
    task.saved = &saved;
    // A picture's results are compared in full; whoever filters one does not wait for other layers.
    if (!picture && !options.no_trials) task.trials = adversarial_layers(seed);
    std::vector<Candidate> candidates = candidates_for(layers, entries, backend, task);
    if (options.no_times) leave_out_times(candidates);
    results.rows = run_candidates(candidates, backend, progress);
    fill_shares(results.rows, results.machine);
  }
  progress.clear();
  options.out.brief = options.bench;
  const int status = publish(results, options.out);
  if (saved_variant.empty()) return status;

  const auto row = std::find_if(results.rows.begin(), results.rows.end(),
                                [&](const Row& each) { return each.variant == saved_variant; });
  if (row == results.rows.end() || row->check.outcome != Outcome::good ||
      row->hazards.outcome == Outcome::bad) {
    std::fprintf(stderr, "%s: %s was not written: the result did not pass its check\n",
                 title(stages).c_str(), options.picture.output.c_str());
    return std::max(status, 1);
  }
  std::printf("%s, by %s\n", picture->save(saved).c_str(), saved_variant.c_str());
  return status;
}

}  // namespace

int run_conv2d(int argc, const char* const* argv, const std::vector<Conv2dStage>& stages,
               const std::vector<Conv2dVariant>& peers, std::unique_ptr<Backend> backend) {
  return guarded_main(argc > 0 ? argv[0] : stages.front().name.c_str(),
                      [&] { return run(argc, argv, stages, peers, *backend); });
}

}  // namespace halo
