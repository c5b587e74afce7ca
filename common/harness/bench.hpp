// --bench of the families that have tables of published problems: hundreds of them, each timed briefly
// beside its peers, in a run that can be broken off and taken up again. Private to the harness.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/backend.hpp"
#include "common/harness/program.hpp"

namespace halo {

// A row's stage and variant.
using RowName = std::pair<std::string, std::string>;

// A problem and what is timed on it, in turn.
struct BenchJob {
  std::string label;
  Problem problem;            // of its rows
  double weight = 1;          // how long it takes, beside the others
  std::vector<RowName> rows;  // in their order, peers too
  // `tried`: those that need no trials, for they had them on an earlier problem.
  std::function<std::vector<Candidate>(std::uint64_t seed, const std::set<RowName>& tried)>
      candidates;
};

struct BenchOptions {
  std::string word = "problem";  // for one: problem, layer
  std::string json;              // written whole after each problem; empty: not
  bool resume = false;           // the problems that the file has are not run again
  bool times = true;
};

// What an earlier run left, if it is to be taken up again; else `fresh` itself. Throws UsageError, in
// one line, if the file is of another seed, another GPU or other variants.
Results take_up(const Results& fresh, const std::vector<BenchJob>& jobs,
                const BenchOptions& options, bool seed_is_given);

// Runs the jobs that `results` does not hold yet and adds their rows.
void run_jobs(const std::vector<BenchJob>& jobs, Backend& backend, const BenchOptions& options,
              Results& results, Progress& progress);

}  // namespace halo
