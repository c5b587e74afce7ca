// --bench of the 2D family: the sets of published layers (bench_sets.hpp) and what is timed on each. Private to the
// harness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/bench.hpp"
#include "common/harness/conv2d.hpp"
#include "common/harness/conv2d_candidates.hpp"

namespace halo {

// A layer and what is timed on it, in turn.
struct LayerJob {
  conv::ConvLayer layer;
  std::vector<Conv2dEntry> entries;  // without peers
};

// The layers of one set, or of all that these stages have a part in (empty name), each once, with the
// variants of the set's stages. `batches`, if not empty, stands for the sets' own batch sizes. Throws
// UsageError for an unknown set, and data::DataError.
std::vector<LayerJob> layer_jobs(const std::string& set, const std::vector<std::int64_t>& batches,
                                 const std::vector<Conv2dEntry>& entries);

// The same with the peers, as they are run. The backend must outlive them.
std::vector<BenchJob> bench_jobs(const std::vector<LayerJob>& layers,
                                 const std::vector<Conv2dEntry>& peers, Backend& backend);

}  // namespace halo
