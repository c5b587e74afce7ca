#include "common/harness/conv2d_bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "common/data/layer_table.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/family_program.hpp"

namespace halo {

namespace {

// A table of layers (common/data/layers), the batch sizes that its paper runs, and the stages that
// rebuild the paper or are its naive beginning.
struct BenchSet {
  const char* name;
  std::vector<std::int64_t> batches;
  std::vector<std::string> stages;  // numbers
};
const std::vector<BenchSet>& sets() {
  static const std::vector<BenchSet> all = {
      {"chang_onishi_single", {1}, {"06", "07"}},
      {"chang_onishi_multi", {1}, {"06", "08"}},
      {"cuconv", {1, 8, 16, 32, 64, 128, 256}, {"09"}},
  };
  return all;
}

// Products for which no more time is spent on a layer than on everything round it: data, checks and
// preparations. For the estimate of the time that is left.
constexpr double kProductsOfALayer = 5e8;

bool is_of(const BenchSet& set, const std::string& stage) {
  return std::any_of(set.stages.begin(), set.stages.end(),
                     [&](const std::string& number) { return stage.starts_with(number + "_"); });
}

bool is_same(const Conv2dEntry& a, const Conv2dEntry& b) {
  return a.stage == b.stage && a.variant.name == b.variant.name;
}

std::vector<Conv2dEntry> with_peers(const BenchJob& job, const std::vector<Conv2dEntry>& peers) {
  std::vector<Conv2dEntry> all = job.entries;
  all.insert(all.end(), peers.begin(), peers.end());
  return all;
}

std::map<Problem, std::vector<const Row*>> rows_by_layer(const std::vector<Row>& rows) {
  std::map<Problem, std::vector<const Row*>> found;
  for (const Row& row : rows) found[row.problem].push_back(&row);
  return found;
}

// "about 6 min left".
std::string left(double seconds) {
  if (seconds < 90) return "about " + std::to_string(static_cast<int>(seconds) + 1) + " s left";
  return "about " + std::to_string(static_cast<int>(seconds / 60 + 0.5)) + " min left";
}

// Where no terminal shows progress, a line for each layer on stdout: for logs, and for `halo bench`.
void tell(Progress& progress, const std::string& text) {
  progress.within(text);
  if (isatty(STDERR_FILENO) == 0) {
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

std::vector<std::string> bench_sets() {
  std::vector<std::string> names;
  for (const BenchSet& set : sets()) names.emplace_back(set.name);
  return names;
}

std::vector<BenchJob> bench_jobs(const std::string& name, const std::vector<std::int64_t>& batches,
                                 const std::vector<Conv2dEntry>& entries) {
  std::vector<BenchJob> jobs;
  std::map<std::string, std::size_t> known;  // by label
  bool found = false;
  for (const BenchSet& set : sets()) {
    if (!name.empty() && name != set.name) continue;
    found = true;
    std::vector<Conv2dEntry> chosen;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(chosen),
                 [&](const Conv2dEntry& entry) { return is_of(set, entry.stage); });
    // Of all sets, those that there is something to compare in.
    if (name.empty() && chosen.empty()) continue;
    const auto layers = data::paper_layer_table(set.name);
    for (const std::int64_t images : batches.empty() ? set.batches : batches) {
      for (const data::NamedLayer& named : layers) {
        const conv::ConvLayer layer = named.layer.with_batch(images);
        const auto [at, is_new] = known.emplace(conv::label(layer), jobs.size());
        if (is_new) jobs.push_back({layer, {}});
        std::vector<Conv2dEntry>& of_layer = jobs[at->second].entries;
        for (const Conv2dEntry& entry : chosen) {
          const bool there = std::any_of(of_layer.begin(), of_layer.end(),
                                         [&](const auto& other) { return is_same(entry, other); });
          if (!there) of_layer.push_back(entry);
        }
      }
    }
  }
  if (!found) {
    std::string names;
    for (const std::string& one : bench_sets()) names += (names.empty() ? "" : ", ") + one;
    throw UsageError("--set: there is no set '" + name + "' of layers; there are: " + names);
  }
  if (jobs.empty()) throw UsageError("--bench: no set of layers is for this stage");
  return jobs;
}

Results take_up(const Results& fresh, const std::vector<BenchJob>& jobs,
                const std::vector<Conv2dEntry>& peers, const BenchOptions2d& options,
                bool seed_is_given) {
  if (!options.resume) return fresh;
  if (options.json.empty()) throw UsageError("--resume needs --json: the file to take up again");
  if (!std::filesystem::exists(options.json)) return fresh;
  Results results = read_json(options.json);
  const auto refuse = [&](const std::string& reason) {
    return UsageError("--resume: " + options.json + " " + reason +
                      ": leave --resume out to begin anew");
  };
  if (seed_is_given && results.seed != fresh.seed) {
    throw refuse("has the seed " + std::to_string(results.seed) + ", not " +
                 std::to_string(fresh.seed));
  }
  if (results.machine.gpu != fresh.machine.gpu) {
    throw refuse("was measured on " +
                 (results.machine.gpu.empty() ? "no GPU" : results.machine.gpu) + ", this is " +
                 (fresh.machine.gpu.empty() ? "none" : fresh.machine.gpu));
  }
  const auto known = rows_by_layer(results.rows);
  for (const BenchJob& job : jobs) {
    const auto rows = known.find(problem_of(job.layer));
    if (rows == known.end()) continue;
    const std::vector<Conv2dEntry> entries = with_peers(job, peers);
    const bool same =
        std::equal(rows->second.begin(), rows->second.end(), entries.begin(), entries.end(),
                   [](const Row* row, const Conv2dEntry& entry) {
                     return row->stage == entry.stage && row->variant == entry.variant.name;
                   });
    if (!same) throw refuse("has other variants of layer " + conv::label(job.layer));
  }
  return results;
}

void run_jobs(const std::vector<BenchJob>& jobs, const std::vector<Conv2dEntry>& peers,
              Backend& backend, const BenchOptions2d& options, Results& results,
              Progress& progress) {
  GrowingResults file(options.json, results);
  const auto known = rows_by_layer(results.rows);
  std::vector<const BenchJob*> wanted;
  double weight_left = 0;
  const auto weight = [](const BenchJob& job) {
    return kProductsOfALayer + static_cast<double>(conv::products(job.layer));
  };
  for (const BenchJob& job : jobs) {
    if (known.contains(problem_of(job.layer))) continue;
    wanted.push_back(&job);
    weight_left += weight(job);
  }
  if (wanted.size() < jobs.size()) {
    std::printf("%zu of %zu layers are in %s already\n", jobs.size() - wanted.size(), jobs.size(),
                options.json.c_str());
  }
  std::size_t at = jobs.size() - wanted.size();
  const auto start = std::chrono::steady_clock::now();
  double weight_done = 0;
  const std::vector<conv::ConvLayer> trials = adversarial_layers(results.seed);
  std::set<std::pair<std::string, std::string>> tried;  // each variant once, with its first layer
  for (const BenchJob* job : wanted) {
    std::string text = "layer " + std::to_string(++at) + " of " + std::to_string(jobs.size()) +
                       ", " + conv::label(job->layer);
    if (weight_done > 0) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      text += ", " + left(taken.count() * weight_left / weight_done);
    }
    tell(progress, text);
    weight_done += weight(*job);
    weight_left -= weight(*job);

    std::vector<Conv2dEntry> entries = with_peers(*job, peers);
    for (Conv2dEntry& entry : entries) {
      entry.tried = !tried.insert({entry.stage, entry.variant.name}).second;
    }
    std::vector<Candidate> candidates;
    add_candidates(candidates, entries, backend,
                   {.layer = job->layer,
                    .seed = results.seed,
                    .too_large = too_large_for(job->layer, backend, false),
                    .transfers = false,
                    // Of one image, as inference has them; more than one would take twice the time.
                    .cold = job->layer.N() == 1,
                    .reference_products = conv::kReferenceProducts / 4,
                    .trials = trials});
    if (!options.times) leave_out_times(candidates);
    std::vector<Row> rows = run_candidates(candidates, backend, progress, kLeanTiming);
    fill_shares(rows, results.machine);
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty()) file.add(rows);
  }
  progress.within("");
}

}  // namespace halo
