#include "common/harness/conv2d_bench.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/data/layer_table.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

// Products for which no more time is spent on a layer than on everything round it: data, checks and
// preparations. For the estimate of the time that is left.
constexpr double kProductsOfALayer = 5e8;
// For a batch: as many images as the table says.
constexpr std::int64_t kOfTheTable = 0;

bool is_of(const BenchSet& set, const std::string& stage) {
  return std::any_of(set.stages.begin(), set.stages.end(),
                     [&](const std::string& number) { return stage.starts_with(number + "_"); });
}

RowName name_of(const Conv2dEntry& entry) { return {entry.stage, entry.variant.name}; }

std::vector<Conv2dEntry> with_peers(const LayerJob& job, const std::vector<Conv2dEntry>& peers) {
  std::vector<Conv2dEntry> all = job.entries;
  all.insert(all.end(), peers.begin(), peers.end());
  return all;
}

}  // namespace

std::vector<LayerJob> layer_jobs(const std::string& name, const std::vector<std::int64_t>& batches,
                                 const std::vector<Conv2dEntry>& entries) {
  std::vector<LayerJob> jobs;
  std::map<std::string, std::size_t> known;  // by label
  if (!name.empty()) require_bench_set("conv2d", name);
  for (const BenchSet& set : bench_sets()) {
    if (set.family != "conv2d" || (!name.empty() && name != set.name)) continue;
    std::vector<Conv2dEntry> chosen;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(chosen),
                 [&](const Conv2dEntry& entry) { return is_of(set, entry.stage); });
    // Of all sets, those that there is something to compare in.
    if (name.empty() && chosen.empty()) continue;
    const auto layers = data::paper_layer_table(set.name);
    std::vector<std::int64_t> wanted = batches.empty() ? set.batches : batches;
    if (wanted.empty()) wanted = {kOfTheTable};
    for (const std::int64_t images : wanted) {
      for (const data::NamedLayer& named : layers) {
        const conv::ConvLayer layer =
            images == kOfTheTable ? named.layer : named.layer.with_batch(images);
        const auto [at, is_new] = known.emplace(conv::label(layer), jobs.size());
        if (is_new) jobs.push_back({layer, {}});
        std::vector<Conv2dEntry>& of_layer = jobs[at->second].entries;
        for (const Conv2dEntry& entry : chosen) {
          const bool there = std::any_of(of_layer.begin(), of_layer.end(), [&](const auto& other) {
            return name_of(entry) == name_of(other);
          });
          if (!there) of_layer.push_back(entry);
        }
      }
    }
  }
  if (jobs.empty()) throw UsageError("--bench: no set of layers is for this stage");
  return jobs;
}

std::vector<BenchJob> bench_jobs(const std::vector<LayerJob>& layers,
                                 const std::vector<Conv2dEntry>& peers, Backend& backend) {
  std::vector<BenchJob> jobs;
  for (const LayerJob& job : layers) {
    const std::vector<Conv2dEntry> entries = with_peers(job, peers);
    BenchJob& made = jobs.emplace_back();
    made.label = conv::label(job.layer);
    made.problem = problem_of(job.layer);
    made.weight = kProductsOfALayer + static_cast<double>(conv::products(job.layer));
    for (const Conv2dEntry& entry : entries) made.rows.push_back(name_of(entry));
    made.candidates = [entries, layer = job.layer, &backend](std::uint64_t seed,
                                                             const std::set<RowName>& tried) {
      std::vector<Conv2dEntry> now = entries;
      for (Conv2dEntry& entry : now) entry.tried = tried.contains(name_of(entry));
      std::vector<Candidate> candidates;
      add_candidates(candidates, now, backend,
                     {.layer = layer,
                      .seed = seed,
                      .too_large = too_large_for(layer, backend, false),
                      .transfers = false,
                      // Of one image, as inference has them; more than one would take twice the
                      // time.
                      .cold = layer.N() == 1,
                      .reference_products = conv::kReferenceProducts / 4,
                      .trials = adversarial_layers(seed)});
      return candidates;
    };
  }
  return jobs;
}

}  // namespace halo
