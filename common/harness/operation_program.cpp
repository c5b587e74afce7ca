// The command line of a program of transforms, pooling or softmax.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/harness/bench.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/family_program.hpp"
#include "common/harness/operation_candidates.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

// Problems that move less reach no roof: measuring one would take longer than they do.
constexpr std::int64_t kRoofBytes = 1'000'000;

struct Options : FamilyOptions {
  std::string problem;
  std::string set;
  bool bench = false;
  bool resume = false;
  bool search = false;
};

using Problems = std::vector<AnyProblemPtr>;

bool parse(int argc, const char* const* argv, const AnyFamily& family, const std::string& stage,
           Options& options) {
  CommandLine line(
      stage + ": runs, checks and measures the variants",
      family.label_help + "\nExample:\n  " + program_name(argc, argv, stage) + " --problem " +
          family.example +
          "\n"
          "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 77 not run.");
  line.option("--problem", "LABEL[,LABEL]", options.problem, "these problems");
  line.flag("--bench", options.bench,
            "the paper's problems, each timed briefly; with --problem those");
  line.option("--set", "NAME", options.set,
              "with --bench: only these of the paper's problems: " + bench_set_names(family.name));
  line.flag("--resume", options.resume,
            "with --bench and --json: go on where the file ends that an earlier run left");
  line.flag("--search", options.search,
            "beside the variants, the same with other numbers, to find this GPU's best");
  add_family_options(line, options);
  return line.parse(argc, argv);
}

void require_sense(const Options& options) {
  if (options.bench && options.no_trials) {
    throw UsageError("--no-trials is not for --bench: what is timed was checked before");
  }
  if (!options.bench && !options.set.empty()) throw UsageError("--set is for --bench");
  if (!options.bench && options.resume) throw UsageError("--resume is for --bench");
  if (!options.set.empty() && !options.problem.empty()) {
    throw UsageError("--set has its own problems: leave --problem out");
  }
  if (options.resume && options.out.json.empty()) {
    throw UsageError("--resume needs --json: the file to take up again");
  }
}

Problems problems_named(const AnyFamily& family, const std::string& labels) {
  Problems problems;
  std::set<std::string> known;
  for (const std::string& label : split(labels)) {
    try {
      problems.push_back(family.parse(label));
    } catch (const std::invalid_argument& error) {
      throw UsageError("--problem " + label + ": " + error.what());
    }
    if (!known.insert(problems.back()->label()).second) {
      throw UsageError("--problem: " + problems.back()->describe() + " is given twice");
    }
  }
  return problems;
}

// One set, or all of them (empty name), each problem once.
Problems problems_of_sets(const AnyFamily& family, const std::string& name) {
  if (!name.empty()) require_bench_set(family.name, name);
  Problems problems;
  std::set<std::string> known;
  for (const BenchSet& set : bench_sets()) {
    if (set.family != family.name || (!name.empty() && name != set.name)) continue;
    for (const AnyProblemPtr& problem : family.published(set.name)) {
      if (known.insert(problem->label()).second) problems.push_back(problem);
    }
  }
  return problems;
}

Problems choose_problems(const AnyFamily& family, const Options& options, const Backend& backend) {
  if (!options.problem.empty()) return problems_named(family, options.problem);
  if (options.bench) return problems_of_sets(family, options.set);
  return backend.times() ? family.measured : family.simulated;
}

std::vector<BenchJob> bench_jobs(const AnyFamily& family, const Problems& problems,
                                 const std::vector<AnyEntry>& entries, Backend& backend) {
  const auto name_of = [](const AnyEntry& entry) {
    return RowName{entry.stage, entry.variant.name};
  };
  std::vector<BenchJob> jobs;
  for (const AnyProblemPtr& problem : problems) {
    BenchJob& job = jobs.emplace_back();
    job.label = problem->label();
    job.problem = problem->fields();
    // Beyond so many cells data and checks take longer than the timing.
    job.weight = 1e6 + static_cast<double>(problem->input_size() + problem->output_size());
    for (const AnyEntry& entry : entries) job.rows.push_back(name_of(entry));
    job.candidates = [=, &family, &backend](std::uint64_t seed, const std::set<RowName>& tried) {
      std::vector<AnyEntry> now = entries;
      for (AnyEntry& entry : now) entry.tried = tried.contains(name_of(entry));
      std::vector<Candidate> candidates;
      add_candidates(candidates, now, backend, {problem, seed, family.adversarial(seed)});
      return candidates;
    };
  }
  return jobs;
}

int run(int argc, const char* const* argv, const AnyFamily& family, const std::string& stage,
        const std::vector<AnyVariant>& variants, const std::vector<AnyVariant>& searched,
        const std::vector<AnyVariant>& peers, Backend& backend) {
  Options options;
  if (!parse(argc, argv, family, stage, options)) return 0;
  if (options.list) {
    for (const std::vector<AnyVariant>* all : {&variants, &peers}) {
      for (const AnyVariant& one : *all) {
        list_variant(one.name, one.role == Role::variant ? "" : role_name(one.role),
                     one.description, one.unavailable);
      }
    }
    return 0;
  }
  require_sense(options);
  std::vector<AnyEntry> entries;
  for (const AnyVariant& variant : variants) entries.push_back({stage, variant});
  if (options.search) {
    if (searched.empty()) {
      throw UsageError("--search: stage " + stage + " has no numbers to search for");
    }
    for (const AnyVariant& variant : searched) entries.push_back({stage, variant});
  }
  keep_variant(entries, options.variant, stage);
  if (!options.no_peers) {
    for (const AnyVariant& peer : peers) entries.push_back({"peers", peer});
  }
  const Problems problems = choose_problems(family, options, backend);
  const std::uint64_t seed = make_seed(options.seed);
  use_color(options.out.color, stdout);
  if (!options.out.json.empty()) data::require_writable(options.out.json);
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", stage.c_str(), reason.c_str());
    return 77;
  }
  std::vector<std::string> versions;
  for (const AnyVariant& peer : peers) versions.push_back(peer.version);
  Results results = begin_results(argc, argv, seed, backend, versions);
  const BenchOptions bench{"problem", options.out.json, options.resume, !options.no_times};
  const std::vector<BenchJob> jobs = bench_jobs(family, problems, entries, backend);
  if (options.bench) results = take_up(results, jobs, bench, !options.seed.empty());

  announce_seed(results.seed);
  Progress progress;
  const bool reaches_roof = std::any_of(problems.begin(), problems.end(), [](const auto& problem) {
    return problem->min_bytes() >= kRoofBytes;
  });
  if (backend.times() && !options.no_times && reaches_roof && results.machine.roofs.empty()) {
    measure_roofs(results, backend, progress);
  }
  if (options.bench) {
    run_jobs(jobs, backend, bench, results, progress);
  } else {
    std::vector<Candidate> candidates;
    Problems trials;
    if (!options.no_trials) trials = family.adversarial(seed);
    for (const AnyProblemPtr& problem : problems) {
      add_candidates(candidates, entries, backend, {problem, seed, trials});
      trials.clear();
    }
    if (options.no_times) leave_out_times(candidates);
    results.rows = run_candidates(candidates, backend, progress);
    fill_shares(results.rows, results.machine);
  }
  progress.clear();
  options.out.brief = options.bench;
  return publish(results, options.out);
}

}  // namespace

int run_family(int argc, const char* const* argv, const AnyFamily& family, const std::string& stage,
               const std::vector<AnyVariant>& variants, const std::vector<AnyVariant>& searched,
               const std::vector<AnyVariant>& peers, Backend& backend) {
  return guarded_main(argc > 0 ? argv[0] : stage.c_str(), [&] {
    return run(argc, argv, family, stage, variants, searched, peers, backend);
  });
}

}  // namespace halo
