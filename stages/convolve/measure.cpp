#include "stages/convolve/measure.hpp"

#include <algorithm>
#include <cstdio>
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
#include "common/json/json.hpp"
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
  std::string contender;
  std::string nearest_text;
  int nearest = 0;
  bool packing = false;
  bool overlapping = false;
  Calls calls() const {
    return packing ? Calls::packing : overlapping ? Calls::overlapping : Calls::packed;
  }
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

// The contenders that are measured on a layer, as numbers in the list: all that take it, those that were named, or
// those that the rule which there is foresees to be the fastest, with and without tensor cores; or so where each call packs.
std::vector<std::size_t> asked_of(const Options& options, const ConvLayer& layer,
                                  const gpus::GpuLimits& limits) {
  const std::vector<Contender>& all = all_contenders().contenders;
  std::vector<std::size_t> asked;
  if (options.nearest == 0) {
    std::vector<std::string> named;
    if (!options.contender.empty()) named = split(options.contender);
    for (std::size_t at = 0; at < all.size(); ++at) {
      const auto is_this = [&](const std::string& name) { return name == all[at].variant; };
      if (!named.empty() && std::none_of(named.begin(), named.end(), is_this)) {
        continue;
      }
      if (all[at].offer(layer, limits).refusal.empty()) asked.push_back(at);
    }
    return asked;
  }
  const std::vector<Ranked> those =
      ranked(layer, all_contenders(), Epilogue::none, options.calls());
  for (const Conv2dVariant* const one : nearest(those, options.nearest)) {
    asked.push_back(static_cast<std::size_t>(one - all_contenders().variants.data()));
  }
  return asked;
}

Results measured(const Options& options, const std::vector<ConvLayer>& layers, Backend& backend,
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
        us = measuring.time(variant, layer, best, options.calls());
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

// ---- Samples ----

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

// As refit.py reads them. Left out are times of what is not a contender, or refuses the layer.
std::string samples_of(const std::vector<Results>& all) {
  using Json = json::Value;
  const ChoiceOn on = gpu_of(all.front().machine);
  Json terms = Json::array(), contenders = Json::array();
  for (const CostTerm& term : kCostTerms) terms.push_back(term.name);
  for (const Contender& one : all_contenders().contenders) {
    Json entry = Json::array();
    entry.push_back(one.variant);
    entry.push_back(one.tensor_cores);
    contenders.push_back(std::move(entry));
  }
  std::string command, date, samples;
  for (const Results& results : all) {
    if (results.machine.gpu != all.front().machine.gpu) {
      throw UsageError("--from: the files are of different GPUs");
    }
    command += (command.empty() ? "" : "; ") + results.command;
    date = std::max(date, results.date);
    for (const Row& row : results.rows) {
      if (row.time.outcome != Outcome::good || row.label.empty() || !row.layout.empty()) continue;
      if (row.role != Role::variant) continue;
      const std::vector<Contender>& known = all_contenders().contenders;
      const auto its = std::find_if(known.begin(), known.end(), [&](const Contender& one) {
        return one.variant == row.variant;
      });
      const ConvLayer layer = conv::parse_label(row.label);
      if (its == known.end()) continue;
      const Offer offer = its->offer(layer, on.limits);
      if (!offer.refusal.empty()) continue;
      Json sample = Json::array();
      sample.push_back(conv::label(layer));
      sample.push_back(conv::label(layer.with_batch(1)));
      sample.push_back(row.variant);
      sample.push_back(row.time.hot.median_ms * 1e3);
      sample.push_back(cost_terms(offer.work, on.limits.sms));
      samples += (samples.empty() ? "\n" : ",\n") + sample.dump();
    }
  }
  return "{\n\"gpu\": " + Json(on.gpu).dump() +
         ",\n\"multiprocessors\": " + std::to_string(on.limits.sms) +
         ",\n\"date\": " + Json(date).dump() + ",\n\"command\": " + Json(command).dump() +
         ",\n\"terms\": " + terms.dump() + ",\n\"contenders\": " + contenders.dump() +
         ",\n\"samples\": [" + samples + "\n]\n}\n";
}

}  // namespace

int measure(int argc, const char* const* argv) {
  Options options;
  CommandLine line(
      "Measures the kernels among which `convolve` chooses, for stages/convolve/refit.py",
      "Examples: convolve-cuda measure --times times.json --out samples.json\n"
      "          convolve-cuda measure --from times.json --out samples.json");
  line.option("--times", "FILE", options.times, "measure here, and keep the times in this file");
  line.option("--from", "FILE[,FILE]", options.from,
              "take the times of results files (of this, or of halo bench) instead");
  line.option("--out", "FILE", options.out,
              "where the times are written with the terms of the cost models");
  line.option("--contender", "NAME[,NAME]", options.contender, "measure these only");
  line.option("--nearest", "N", options.nearest_text,
              "measure only the N that this GPU's rule foresees to be the fastest (and N on tensor "
              "cores)");
  line.flag("--packing", options.packing, "each call packs its filters, too (refit.py --packing)");
  line.flag("--overlapping", options.overlapping,
            "calls begin while those before them end (refit.py --overlapping)");
  line.option("--set", "SET[,SET]", options.sets,
              "the layers to measure: " + bench_set_names("conv2d"));
  line.option("--layer", "LABEL[,LABEL]", options.layer,
              "these layers instead of sets: size-batch-filter-filters-channels, 56-8-3-64-64");
  line.option("--batch", "N[,N]", options.batch,
              "with so many images instead of the sets' or layers' own");
  if (!line.parse(argc, argv)) return 0;
  if (options.times.empty() == options.from.empty()) {
    throw UsageError("--times FILE measures, --from FILE has measured: one of them");
  }
  if (!options.nearest_text.empty()) {
    // It takes two to say which is faster.
    options.nearest = static_cast<int>(parse_number("nearest", options.nearest_text, 2, 1000));
  }
  if (options.nearest > 0 && !options.contender.empty()) {
    throw UsageError("--contender names some, --nearest asks the rule for some: one of them");
  }
  if (options.packing && options.overlapping) {
    throw UsageError("--packing or --overlapping: calls that pack do not overlap");
  }
  if (options.out.empty()) throw UsageError("--out FILE is missing: where the samples are written");

  std::vector<Results> all;
  if (options.from.empty()) {
    const std::vector<ConvLayer> layers = layers_of(options);
    const std::unique_ptr<Backend> backend = make_backend();
    std::string reason = backend->unavailable();
    if (reason.empty()) reason = backend->times() ? "" : backend->no_time_reason();
    if (!reason.empty()) {
      std::fprintf(stderr, "measure: NOT RUN: %s\n", reason.c_str());
      return 77;
    }
    all.push_back(measured(options, layers, *backend, begin_results(argc, argv, 7, *backend, {})));
    write_json(options.times, all.front());
  } else {
    for (const std::string& file : split(options.from)) all.push_back(read_json(file));
  }
  data::write_file(options.out, samples_of(all));
  return 0;
}

}  // namespace halo::convolve
