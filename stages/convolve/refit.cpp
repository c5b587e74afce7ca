#include "stages/convolve/refit.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/convolve/measuring.hpp"
#include "common/data/file.hpp"
#include "common/data/layer_table.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/core/program.hpp"
#include "common/report/command_line.hpp"
#include "common/report/json.hpp"
#include "stages/convolve/paper_contenders.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

struct Options {
  std::string from;
  std::string times;
  std::string out;
  std::string sets = "cuconv,chang_onishi_single,chang_onishi_multi,sc16";
  std::string layer;
  std::string batch;
  std::string add_text;
  std::vector<std::string> add;
  std::string nearest_text;
  int nearest = 0;
};

const Contenders& all_contenders() { return with_papers(Products::split_tf32); }

// ---- Measuring ----

std::vector<ConvLayer> layers_of(const Options& options) {
  std::vector<std::int64_t> asked;
  if (!options.batch.empty()) {
    for (const std::string& images : split(options.batch)) {
      asked.push_back(parse_number("batch", images, 1, 1'000'000));
    }
  }
  std::vector<ConvLayer> layers;
  const auto add = [&](const ConvLayer& layer, const std::vector<std::int64_t>& batches) {
    const auto add_one = [&](const ConvLayer& one) {
      if (std::find(layers.begin(), layers.end(), one) == layers.end()) layers.push_back(one);
    };
    if (batches.empty()) add_one(layer);
    for (const std::int64_t images : batches) add_one(layer.with_batch(images));
  };
  if (!options.layer.empty()) {
    for (const std::string& label : split(options.layer)) add(conv::parse_label(label), asked);
    return layers;
  }
  for (const std::string& name : split(options.sets)) {
    require_bench_set("conv2d", name);
    for (const BenchSet& set : bench_sets()) {
      if (set.family != "conv2d" || set.name != name) continue;
      for (const data::NamedLayer& named : data::paper_layer_table(name)) {
        add(named.layer, asked.empty() ? set.batches : asked);
      }
    }
  }
  return layers;
}

Row row_of(const Conv2dVariant& one, const Backend& backend, const ConvLayer& layer, double us) {
  Row row;
  row.stage = "convolve";
  row.backend = backend.name();
  row.variant = one.name;
  row.source = one.source;
  row.problem = erased(layer)->fields();
  row.label = conv::label(layer);
  row.check.reason = row.hazards.reason = row.traffic.reason = "only timed";
  row.time.outcome = Outcome::good;
  row.time.method = "for a rule";
  row.time.hot.rounds = Measuring::kRounds;
  row.time.hot.median_ms = us * 1e-3;
  return row;
}

// The contenders that are measured on a layer, as numbers in the list: all that take it, those that are added, or
// those that the rule which there is foresees to be the fastest, with and without tensor cores.
std::vector<std::size_t> asked_of(const Options& options, const ConvLayer& layer,
                                  const gpus::GpuLimits& limits) {
  const std::vector<Contender>& all = all_contenders().contenders;
  std::vector<std::size_t> asked;
  if (options.nearest == 0) {
    for (std::size_t at = 0; at < all.size(); ++at) {
      const auto is_this = [&](const std::string& name) { return name == all[at].variant; };
      if (!options.add.empty() && std::none_of(options.add.begin(), options.add.end(), is_this)) {
        continue;
      }
      if (refusal(all[at], layer, limits).empty()) asked.push_back(at);
    }
    return asked;
  }
  for (const Conv2dVariant* const one : nearest(ranked(layer, all_contenders()), options.nearest)) {
    asked.push_back(static_cast<std::size_t>(one - all_contenders().variants.data()));
  }
  return asked;
}

Results measure(const Options& options, const std::vector<ConvLayer>& layers, Backend& backend,
                Results results) {
  const gpus::GpuLimits limits = gpus::present_limits();
  Progress progress;
  Measuring measuring(backend);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ConvLayer& layer = layers[i];
    progress.show("layer " + std::to_string(i + 1) + " of " + std::to_string(layers.size()) + ": " +
                  conv::label(layer));
    double best = 1e12;
    for (const std::size_t at : asked_of(options, layer, limits)) {
      const Conv2dVariant& variant = all_contenders().variants[at];
      std::optional<double> us;
      try {
        us = measuring.time(variant, layer, best);
      } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "%s on %s: %s\n", variant.name.c_str(), conv::label(layer).c_str(),
                     error.what());
        measuring.start_again();
      }
      if (!us) continue;
      best = std::min(best, *us);
      results.rows.push_back(row_of(variant, backend, layer, *us));
    }
  }
  progress.clear();
  return results;
}

// ---- Fitting ----

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

// The GPU that results are of, as its rule will be asked for it.
ChoiceOn gpu_of(const Machine& machine) {
  for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
    if (gpu.name == machine.gpu) return {gpu.name, gpus::limits_of(gpu)};
  }
  // One that only the device itself can tell of.
  const gpus::GpuFigures& present = gpus::present_gpu();
  if (present.name != machine.gpu) {
    throw UsageError("the times are of " + machine.gpu +
                     ", of which nothing is known here: refit on a machine with that GPU");
  }
  return {present.name, gpus::present_limits()};
}

void print(const ConvolutionRule& rule) {
  std::printf("%-28s %7s  %s\n", "contender", "layers", "off by, in the middle");
  for (const CostModel& model : rule.models) {
    std::printf("%-28s %7d  %s\n", model.variant.c_str(), model.layers,
                percent(model.error).c_str());
  }
  const LeftOut& left_out = rule.left_out;
  std::printf(
      "%zu layers were measured with several contenders.\n"
      "Chosen by models alone, on %d layers they were not fitted to: %s over the best in the mean, "
      "%s at "
      "worst%s.\n",
      rule.layers.size(), left_out.layers, percent(left_out.mean).c_str(),
      percent(left_out.worst).c_str(),
      left_out.worst_layer.empty() ? "" : (" (" + left_out.worst_layer + ")").c_str());
}

}  // namespace

int refit(int argc, const char* const* argv) {
  Options options;
  CommandLine line(
      "Fits the rule by which `convolve` chooses a kernel to the kernels' times",
      "Examples: convolve-cuda refit --times times.json --out common/data/rules/h200.json\n"
      "          convolve-cuda refit --from times.json --out common/data/rules/h200.json");
  line.option("--times", "FILE", options.times, "measure here, and keep the times in this file");
  line.option("--from", "FILE[,FILE]", options.from,
              "take the times of results files (of this, or of halo bench) instead");
  line.option("--out", "FILE", options.out, "where the rule is written");
  line.option(
      "--add", "CONTENDER[,CONTENDER]", options.add_text,
      "measure these only, and add them to the rule that there is for this GPU, or put them "
      "in the place of what they were");
  line.option("--nearest", "N", options.nearest_text,
              "measure only the N that this GPU's rule foresees to be the fastest (and N on tensor "
              "cores), and keep the fastest of each layer in the rule");
  line.option("--set", "SET[,SET]", options.sets,
              "the layers to measure: " + bench_set_names("conv2d"));
  line.option("--layer", "LABEL[,LABEL]", options.layer,
              "these layers instead of sets: size-batch-filter-filters-channels, 56-8-3-64-64");
  line.option("--batch", "N[,N]", options.batch,
              "with so many images instead of the sets' or layers' own");
  if (!line.parse(argc, argv)) return 0;
  if (!options.add_text.empty()) options.add = split(options.add_text);
  if (options.times.empty() == options.from.empty()) {
    throw UsageError("--times FILE measures, --from FILE has measured: one of them");
  }
  if (!options.nearest_text.empty()) {
    // It takes two to say which is faster.
    options.nearest = static_cast<int>(parse_number("nearest", options.nearest_text, 2, 1000));
  }
  if (options.nearest > 0 && !options.add.empty()) {
    throw UsageError("--add names its contenders, --nearest asks the rule for some: one of them");
  }
  if (options.out.empty()) throw UsageError("--out FILE is missing: where the rule is written");

  std::vector<Results> all;
  if (options.from.empty()) {
    const std::vector<ConvLayer> layers = layers_of(options);
    const std::unique_ptr<Backend> backend = make_backend();
    std::string reason = backend->unavailable();
    if (reason.empty()) reason = backend->times() ? "" : backend->no_time_reason();
    if (!reason.empty()) {
      std::fprintf(stderr, "refit: NOT RUN: %s\n", reason.c_str());
      return 77;
    }
    all.push_back(measure(options, layers, *backend, begin_results(argc, argv, 7, *backend, {})));
    write_json(options.times, all.front());
  } else {
    for (const std::string& file : split(options.from)) all.push_back(read_json(file));
  }
  const ChoiceOn on = gpu_of(all.front().machine);
  std::vector<MeasuredTime> times;
  std::string command;
  for (const Results& results : all) {
    if (results.machine.gpu != all.front().machine.gpu) {
      throw UsageError("--from: the files are of different GPUs");
    }
    if (!command.empty()) command += "; ";
    command += results.command;
    for (const Row& row : results.rows) {
      if (row.time.outcome != Outcome::good || row.label.empty() || !row.layout.empty()) continue;
      if (row.role != Role::variant) continue;
      times.push_back({conv::parse_label(row.label), row.variant, row.time.hot.median_ms * 1e3});
    }
  }
  ConvolutionRule rule;
  const auto known_rule = [&]() -> const ConvolutionRule& {
    const ConvolutionRule& before = rule_for(on.gpu);
    if (before.gpu != on.gpu) throw UsageError("there is no rule for " + on.gpu + " yet");
    return before;
  };
  if (options.nearest > 0) {
    rule = refine(known_rule(), times, all_contenders().contenders, on);
    rule.command += "; " + command;
  } else if (options.add.empty()) {
    rule = fit(times, all_contenders().contenders, on);
    rule.command = command;
  } else {
    rule = known_rule();
    for (const std::string& name : options.add) {
      std::vector<MeasuredTime> its;
      std::copy_if(times.begin(), times.end(), std::back_inserter(its),
                   [&](const MeasuredTime& time) { return time.variant == name; });
      if (its.empty()) throw UsageError("--add: there are no times of a contender " + name);
      rule = add(rule, its, all_contenders().contenders, on);
    }
    rule.command += "; " + command;
  }
  for (const Results& results : all) rule.date = std::max(rule.date, results.date);  // the newest
  data::write_file(options.out, to_text(rule));
  print(rule);
  return 0;
}

}  // namespace halo::convolve
