// --bench of the 2D family: hundreds of layers, each timed briefly beside its peers, in a run that can
// be broken off and taken up again. Private to the harness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/conv2d.hpp"
#include "common/harness/conv2d_candidates.hpp"
#include "common/harness/program.hpp"

namespace halo {

// A layer and what is timed on it, in turn.
struct BenchJob {
  conv::ConvLayer layer;
  std::vector<Conv2dEntry> entries;  // without peers
};

// The names of the sets of published layers.
std::vector<std::string> bench_sets();

// The layers of one set, or of all that these stages have a part in (empty name), each once, with the
// variants of the set's stages. `batches`, if not empty, stands for the sets' own batch sizes. Throws
// UsageError for an unknown set, and data::DataError.
std::vector<BenchJob> bench_jobs(const std::string& set, const std::vector<std::int64_t>& batches,
                                 const std::vector<Conv2dEntry>& entries);

struct BenchOptions2d {
  std::string json;     // written whole after each layer; empty: not
  bool resume = false;  // the layers that the file has are not run again
  bool times = true;
};

// What an earlier run left, if it is to be taken up again; else `fresh` itself. Throws UsageError, in
// one line, if the file is of another seed, another GPU or other variants.
Results take_up(const Results& fresh, const std::vector<BenchJob>& jobs,
                const std::vector<Conv2dEntry>& peers, const BenchOptions2d& options,
                bool seed_is_given);

// Runs the jobs that `results` does not hold yet and adds their rows.
void run_jobs(const std::vector<BenchJob>& jobs, const std::vector<Conv2dEntry>& peers,
              Backend& backend, const BenchOptions2d& options, Results& results,
              Progress& progress);

}  // namespace halo
