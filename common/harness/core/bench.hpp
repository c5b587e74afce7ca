// --bench of the families that have tables of published problems: hundreds of them, each timed briefly
// beside its peers, in a run that can be broken off and taken up again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/program.hpp"

namespace halo {

struct BenchOptions {
  std::string word = "problem";  // for one: problem, layer
  std::string json;              // written whole after each problem; empty: not
  bool resume = false;           // the problems that the file has are not run again
  bool times = true;
};

// What an earlier run left, if it is to be taken up again; else `fresh` itself. Throws UsageError, in
// one line, if the file is of another seed, another GPU or other variants.
Results take_up(const Results& fresh, const std::vector<Job>& jobs, const BenchOptions& options,
                bool seed_is_given);

// Runs the jobs that `results` does not hold yet and adds their rows.
// `trials`: each variant gets
// them with its first problem.
void run_jobs(const std::vector<Job>& jobs, bool trials, Backend& backend,
              const BenchOptions& options, Results& results, Progress& progress);

}  // namespace halo
