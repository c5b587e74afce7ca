#include "common/harness/core/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "common/report/command_line.hpp"
#include "common/report/json.hpp"
#include "common/report/row_stream.hpp"

namespace halo {

namespace {

std::map<Problem, std::vector<const Row*>> rows_by_problem(const std::vector<Row>& rows) {
  std::map<Problem, std::vector<const Row*>> found;
  for (const Row& row : rows) found[row.problem].push_back(&row);
  return found;
}

// "about 6 min left".
std::string left(double seconds) {
  if (seconds < 90) return "about " + std::to_string(static_cast<int>(seconds) + 1) + " s left";
  return "about " + std::to_string(static_cast<int>(seconds / 60 + 0.5)) + " min left";
}

// Where no terminal shows progress, a line for each problem on stdout: for logs, and for `halo bench`.
void tell(Progress& progress, const std::string& text) {
  progress.within(text);
  if (isatty(STDERR_FILENO) == 0 && !RowStream::to_starter().open()) {
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

Results take_up(const Results& fresh, const std::vector<Job>& jobs, const BenchOptions& options,
                bool seed_is_given) {
  if (!options.resume) return fresh;
  if (options.json.empty()) throw UsageError("--resume needs --json: the file to continue");
  if (!std::filesystem::exists(options.json)) return fresh;
  Results results = read_json(options.json);
  const auto refuse = [&](const std::string& reason) {
    return UsageError("--resume: " + options.json + " " + reason +
                      ": leave --resume out to start over");
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
  const auto known = rows_by_problem(results.rows);
  for (const Job& job : jobs) {
    const auto rows = known.find(job.task.problem->fields());
    if (rows == known.end()) continue;
    const bool same = std::equal(rows->second.begin(), rows->second.end(), job.entries.begin(),
                                 job.entries.end(), [](const Row* row, const Entry& entry) {
                                   return RowName(row->stage, row->variant) == name_of(entry);
                                 });
    if (!same) {
      throw refuse("has other variants of " + options.word + " " + job.task.problem->label());
    }
  }
  return results;
}

void run_jobs(const std::vector<Job>& jobs, bool trials, Backend& backend,
              const BenchOptions& options, Results& results, Progress& progress) {
  GrowingResults file(options.json, results);
  RowStream::to_starter().head(results);
  RowStream::to_starter().rows(results.rows);
  const auto known = rows_by_problem(results.rows);
  std::vector<const Job*> wanted;
  double weight_left = 0;
  for (const Job& job : jobs) {
    if (known.contains(job.task.problem->fields())) continue;
    wanted.push_back(&job);
    weight_left += job.task.problem->bench_weight();
  }
  if (wanted.size() < jobs.size()) {
    std::printf("%zu of %zu %ss are in %s already\n", jobs.size() - wanted.size(), jobs.size(),
                options.word.c_str(), options.json.c_str());
  }
  std::size_t at = jobs.size() - wanted.size();
  const auto start = std::chrono::steady_clock::now();
  double weight_done = 0;
  std::set<RowName> tried;  // each variant once, with its first problem
  for (const Job* job : wanted) {
    const AnyProblem& problem = *job->task.problem;
    std::string text = options.word + " " + std::to_string(++at) + " of " +
                       std::to_string(jobs.size()) + ", " + problem.label();
    if (weight_done > 0) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      text += ", " + left(taken.count() * weight_left / weight_done);
    }
    tell(progress, text);
    weight_done += problem.bench_weight();
    weight_left -= problem.bench_weight();

    Task task = job->task;
    task.seed = results.seed;
    task.trials = trials;
    std::vector<Entry> entries = job->entries;
    for (Entry& entry : entries) entry.tried = !tried.insert(name_of(entry)).second;
    std::vector<Candidate> candidates;
    add_candidates(candidates, entries, backend, task);
    if (!options.times) leave_out_times(candidates);
    std::vector<Row> rows = run_candidates(candidates, backend, progress, kLeanTiming);
    fill_shares(rows, results.machine);
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty()) file.add(rows);
  }
  progress.within("");
}

}  // namespace halo
