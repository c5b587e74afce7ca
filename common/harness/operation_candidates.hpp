// From the variants of transforms, pooling and softmax and a problem to candidates that can be checked
// and timed. Private to the harness.
#pragma once

#include <string>
#include <vector>

#include "common/harness/operation_any.hpp"
#include "common/harness/program.hpp"

namespace halo {

// A problem that variants are to be run on. Its data is made when the first of them is checked and
// freed after the last.
struct AnyTask {
  AnyProblemPtr problem;
  std::uint64_t seed;  // of the data
  // Also tried, before the problem itself; may be empty.
  std::vector<AnyProblemPtr> trials = {};
};

// A variant, and what stands as its stage in its rows: 11_fused_pooling, or peers.
struct AnyEntry {
  std::string stage;
  AnyVariant variant;
  bool tried = false;  // on trials, before: not again
};

// Adds one candidate for each entry. The backend must outlive the candidates.
void add_candidates(std::vector<Candidate>& candidates, const std::vector<AnyEntry>& entries,
                    Backend& backend, const AnyTask& task);

}  // namespace halo
