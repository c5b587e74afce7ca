#include "common/harness/core/program.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <random>
#include <set>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/core/bench.hpp"
#include "common/harness/core/diagnosis.hpp"
#include "common/harness/program_options.hpp"
#include "common/report/json.hpp"
#include "common/report/row_stream.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

bool parse(int argc, const char* const* argv, const ProgramFamily& family,
           const std::vector<AnyStage>& stages, ProgramRun& run, ProgramOptions& options) {
  std::string help = family.help + "Examples:\n";
  for (const std::string& example : family.examples) {
    help += "  " + program_name(argc, argv, stages.front().name) + " " + example + "\n";
  }
  help +=
      "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 74 results could not be "
      "written, 77 not run.";
  CommandLine line(title(stages) + ": runs, checks and measures the variants", help);
  run.add_options(line, options);
  if (family.render_sets) {
    line.flag("--bench", options.bench,
              "the papers' " + family.problem +
                  "s, each timed briefly; or those that other options name");
    line.option("--set", "NAME", options.set,
                "with --bench: only this set: " + bench_set_names(family.name));
    line.flag("--resume", options.resume,
              "with --bench and --json: go on where the file ends that an earlier run left");
    line.flag("--search", options.search,
              "beside the variants, the same with other numbers, to find this GPU's best");
  }
  if (family.has_plans) {
    line.flag("--plan", options.plan,
              "print how the stage would divide each " + family.problem + ", and stop");
    add_option(line, family.name, "--gpu", options.gpu);
  }
  add_program_options(line, family.name, options);
  return line.parse(argc, argv);
}

void require_sense(const ProgramFamily& family, const ProgramOptions& options) {
  if (!options.gpu.empty() && !options.plan) {
    throw UsageError("--gpu is for --plan: programs run on the GPU that is here");
  }
  if (options.tiny_gpu && !options.no_trials) {
    throw UsageError("--tiny-gpu needs --no-trials: the trials choose their GPUs themselves");
  }
  if (options.plan && options.bench) throw UsageError("--plan and --bench: one of them, not both");
  if (!family.render_sets) return;
  if (options.bench && options.no_trials) {
    throw UsageError("--no-trials is not for --bench: what is timed was checked before");
  }
  if (!options.bench && !options.set.empty()) throw UsageError("--set is for --bench");
  if (!options.bench && options.resume) throw UsageError("--resume is for --bench");
  if (options.resume && options.out.json.empty()) {
    throw UsageError("--resume needs --json: the file to continue");
  }
}

void list_variants(const std::vector<AnyStage>& stages, const std::vector<AnyVariant>& peers) {
  const auto list = [](const AnyVariant& variant) {
    const std::string mark = variant.role != Role::variant ? role_name(variant.role) : "";
    list_variant(variant.name, mark, variant.description, variant.unavailable);
  };
  for (const AnyStage& stage : stages) {
    for (const AnyVariant& variant : stage.variants) list(variant);
  }
  for (const AnyVariant& peer : peers) list(peer);
}

std::vector<Entry> choose_variants(const std::vector<AnyStage>& stages,
                                   const ProgramOptions& options) {
  std::vector<Entry> chosen;
  bool searched = false;
  for (const AnyStage& stage : stages) {
    for (const AnyVariant& variant : stage.variants) {
      Entry& entry = chosen.emplace_back(Entry{stage.name, variant});
      // One that only chooses another has no kernel of its own.
      if (variant.role != Role::variant || !variant.chooses_from.empty()) continue;
      const auto same_source = [&](const AnyVariant& other) {
        return other.source == variant.source;
      };
      // A file outside stages/ is shared: other stages have variants of it, too.
      const bool is_shared =
          !variant.source.starts_with("stages/") ||
          std::count_if(stage.variants.begin(), stage.variants.end(), same_source) > 1;
      entry.lines = std::make_shared<TriedLines>(variant.source, is_shared);
    }
    if (!options.search) continue;
    for (const AnyVariant& variant : stage.searched) chosen.push_back({stage.name, variant});
    searched |= !stage.searched.empty();
  }
  if (options.search && !searched) {
    throw UsageError("--search: stage " + title(stages) + " has no numbers to search for");
  }
  if (!options.variant.empty()) {
    std::string names;
    std::vector<std::string> choices;
    for (const Entry& entry : chosen) {
      names += " " + entry.variant.name;
      choices.push_back(entry.variant.name);
    }
    std::erase_if(chosen,
                  [&](const Entry& entry) { return entry.variant.name != options.variant; });
    if (chosen.empty()) {
      throw UsageError("variant " + data::quoted(options.variant) + " is not in stage " +
                       title(stages) + data::did_you_mean(options.variant, choices) +
                       " (it has:" + names + ")");
    }
  }
  leave_out(chosen, options.without, [](const Entry& entry) { return entry.variant.name; });
  // A stage may bring peers of its own.
  if (options.no_peers) {
    std::erase_if(chosen, [](const Entry& entry) {
      return entry.variant.role == Role::peer || entry.variant.role == Role::beside;
    });
  }
  return chosen;
}

// Of problems that nobody named, those that a stage does not take are left out.
void print_plans(const std::vector<AnyStage>& stages, const ProgramWork& work,
                 const std::string& gpu) {
  for (const AnyStage& stage : stages) {
    if (stage.plan) continue;
    throw UsageError("stage " + stage.name + " has no plan: it divides every problem alike");
  }
  // All of them before the first is printed: a complaint stands alone.
  std::string text;
  for (const AnyStage& stage : stages) {
    for (const Job& job : work.jobs) {
      const AnyProblem& problem = *job.task.problem;
      const auto takes = [&](const AnyVariant& variant) {
        return variant.prepared(problem).refusal.empty();
      };
      if (!work.named && std::none_of(stage.variants.begin(), stage.variants.end(), takes)) {
        continue;
      }
      if (!text.empty()) text += "\n";
      text += stage.plan(problem, gpu);
      if (text.back() != '\n') text += "\n";
    }
  }
  std::fputs(text.c_str(), stdout);
}

// What the saved variant computed is written if it passed.
int save(const ProgramWork& work, const std::vector<Row>& rows, SavedOutputs& saved, int status,
         const std::string& name) {
  const std::string& variant = work.jobs.front().task.saved_variant;
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& each) { return each.variant == variant; });
  if (row == rows.end() || row->check.outcome != Outcome::good ||
      row->hazards.outcome == Outcome::bad) {
    std::fprintf(stderr, "%s: %s was not written: the result did not pass its check\n",
                 name.c_str(), work.target.c_str());
    return std::max(status, 1);
  }
  std::printf("%s\n", work.save(saved).c_str());
  return status;
}

int run(int argc, const char* const* argv, const ProgramFamily& family,
        const std::vector<AnyStage>& stages, const std::vector<AnyVariant>& all_peers,
        Backend& backend, const TimingSettings& timing) {
  const std::unique_ptr<ProgramRun> run = family.run();
  ProgramOptions options;
  if (!parse(argc, argv, family, stages, *run, options)) return 0;
  if (options.list) {
    list_variants(stages, all_peers);
    return 0;
  }
  const std::string name = title(stages);
  require_sense(family, options);
  const DataKind kind = parse_data_kind(options.data);
  run->require_sense(options);
  std::vector<Entry> entries = choose_variants(stages, options);
  const std::uint64_t seed = make_seed(options.seed);
  ProgramWork work = run->choose({options, stages, std::move(entries), seed, backend});
  use_color(options.out.color, stdout);
  if (!options.out.json.empty()) prepare_json(options.out.json);
  if (options.plan) {
    print_plans(stages, work, options.gpu);
    return 0;
  }
  std::string not_run = backend.unavailable();
  if (not_run.empty()) not_run = work.not_run;
  const bool any = std::any_of(work.jobs.begin(), work.jobs.end(),
                               [](const Job& job) { return !job.entries.empty(); });
  if (not_run.empty() && !any) not_run = "no variant is left";
  if (!not_run.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", name.c_str(), not_run.c_str());
    return 77;
  }
  backend.pass_on_output(options.show_output);
  std::optional<TinyGpu> tiny;
  if (options.tiny_gpu) {
    tiny.emplace(backend);
    if (!tiny->is_there()) throw UsageError("--tiny-gpu is for the simulator");
  }
  for (Job& job : work.jobs) {
    job.task.kind = kind;
    job.task.on_tiny_gpu = options.tiny_gpu;
    for (Entry& entry : job.entries) {
      if (options.tiny_gpu && entry.variant.limited)
        entry.variant = AnyVariant(*entry.variant.limited);
    }
  }
  std::vector<std::string> versions;
  for (const AnyVariant& peer : all_peers) versions.push_back(peer.version);
  Results results = begin_results(argc, argv, seed, backend, versions);
  if (work.peers && !options.no_peers) {
    for (Job& job : work.jobs) {
      for (const AnyVariant& peer : all_peers) job.entries.push_back({"peers", peer});
    }
  }
  const bool lean = options.bench && family.render_sets != nullptr;
  const BenchOptions bench{family.problem, options.out.json, options.resume, !options.no_times};
  if (lean) results = take_up(results, work.jobs, bench, !options.seed.empty());

  announce_seed(results.seed);
  Progress progress;
  const bool reaches_roof =
      work.roofs || std::any_of(work.jobs.begin(), work.jobs.end(),
                                [](const Job& job) { return job.task.problem->reaches_roof(); });
  if (backend.times() && !options.no_times && reaches_roof && results.machine.roofs.empty()) {
    measure_roofs(results, backend, progress);
  }
  const bool trials = work.trials && !options.no_trials;
  SavedOutputs saved;
  if (lean) {
    run_jobs(work.jobs, trials, backend, bench, results, progress);
  } else {
    std::vector<Candidate> candidates;
    std::set<RowName> tried;  // each variant once, with its first problem
    for (Job& job : work.jobs) {
      job.task.trials = trials;
      job.task.saved = &saved;
      for (Entry& entry : job.entries) entry.tried = !tried.insert(name_of(entry)).second;
      add_candidates(candidates, job.entries, backend, job.task);
    }
    if (options.no_times) leave_out_times(candidates);
    results.rows =
        run_candidates(candidates, backend, progress, options.bench ? TimingSettings{} : timing);
    fill_shares(results.rows, results.machine);
  }
  progress.clear();
  if (lean) options.out.render = family.render_sets;
  const int status = publish(results, options.out);
  if (!work.save) return status;
  return save(work, results.rows, saved, status, name);
}

}  // namespace

std::string title(const std::vector<AnyStage>& stages) {
  if (stages.size() == 1) return stages.front().name;
  return stages.front().name + " to " + stages.back().name;
}

std::string usual_problems(const Choice& choice, const std::string& simulated,
                           const std::string& measured) {
  const AnyStage& stage = choice.stages.front();
  const bool timed = choice.backend.times();
  const std::string& own = timed ? stage.measured : stage.simulated;
  if (choice.stages.size() == 1 && !own.empty()) return own;
  return timed ? measured : simulated;
}

int run_program(int argc, const char* const* argv, const ProgramFamily& family,
                const std::vector<AnyStage>& stages, const std::vector<AnyVariant>& peers,
                Backend& backend, const TimingSettings& timing) {
  return guarded_main(argc > 0 ? argv[0] : stages.front().name.c_str(),
                      [&] { return run(argc, argv, family, stages, peers, backend, timing); });
}

void add_program_options(CommandLine& line, const std::string& family, ProgramOptions& options) {
  add_option(line, family, "--seed", options.seed);
  add_option(line, family, "--variant", options.variant);
  add_option(line, family, "--without", options.without);
  add_flag(line, family, "--no-peers", options.no_peers);
  add_flag(line, family, "--no-times", options.no_times);
  add_flag(line, family, "--no-trials", options.no_trials);
  add_flag(line, family, "--strict", options.out.strict);
  add_flag(line, family, "--show-output", options.show_output);
  add_option(line, family, "--data", options.data);
  add_flag(line, family, "--tiny-gpu", options.tiny_gpu);
  line.option("--json", "FILE", options.out.json, "write the results as JSON");
  line.flag("--list", options.list, "list the variants and stop");
  line.option("--color", "WHEN", options.out.color, "auto, always or never");
}

std::string program_name(int argc, const char* const* argv, const std::string& otherwise) {
  const std::string program = argc > 0 ? argv[0] : otherwise;
  return program.substr(program.find_last_of('/') + 1);
}

std::uint64_t make_seed(const std::string& text) {
  return text.empty() ? std::random_device{}() : parse_seed(text);
}

void announce_seed(std::uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

void list_variant(const std::string& name, const std::string& mark, const std::string& description,
                  const std::string& unavailable) {
  std::printf("%-20s %-7s %s\n", name.c_str(), mark.c_str(), description.c_str());
  if (!unavailable.empty()) std::printf("%-28s NOT RUN: %s\n", "", unavailable.c_str());
}

Results begin_results(int argc, const char* const* argv, std::uint64_t seed, Backend& backend,
                      const std::vector<std::string>& versions) {
  Results results = new_results(argc, argv, seed);
  backend.describe(results.machine);
  results.machine.build =
      is_optimised() ? "optimised" : "not optimised: times of this build mean little";
  for (const std::string& version : versions) {
    const std::size_t space = version.find(' ');
    if (space == std::string::npos) continue;
    const std::pair<std::string, std::string> library(version.substr(0, space),
                                                      version.substr(space + 1));
    auto& known = results.machine.libraries;
    // Several peers may be of one library.
    if (std::find(known.begin(), known.end(), library) == known.end()) known.push_back(library);
  }
  RowStream::to_starter().head(results);
  return results;
}

void measure_roofs(Results& results, Backend& backend, Progress& progress) {
  progress.show("measuring what this machine can do at most");
  results.machine.roofs = {{backend.name(), backend.measure_roofs()}};
  RowStream::to_starter().head(results);
}

void leave_out_times(std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    candidate.batch = {};
    if (candidate.row.time.reason.empty()) candidate.row.time.reason = "--no-times was given";
  }
}

int publish(Results results, const OutputOptions& options) {
  const TableOptions table = table_options(options.color, stdout);
  // Who started this program and listens shows the rows.
  const std::string text =
      RowStream::to_starter().open() ? "" : options.render(results.rows, table);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!options.json.empty()) write_json(options.json, results);
  return exit_status(results.rows, options.strict);
}

int guarded_main(const char* program, const std::function<int()>& body) {
  std::string message;
  int status = 2;
  open_standard_streams();
  try {
    const int good = body();
    message = lost_output();
    if (message.empty()) return good;
    status = kNotWritten;
  } catch (const std::bad_alloc&) {
    message = "not enough memory: choose a smaller problem";
  } catch (const data::NotWritten& error) {
    message = error.what();
    status = kNotWritten;
  } catch (const std::exception& error) {
    message = error.what();
  }
  const std::string path = program == nullptr ? "" : program;
  const std::string name = path.substr(path.find_last_of('/') + 1);
  std::fprintf(stderr, "%s: %s\n", name.c_str(), data::printable(message).c_str());
  return status;
}

}  // namespace halo
