// From the variants of the 1D family and a problem to candidates that can be checked and timed.
// Private to the harness.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/harness/conv1d.hpp"
#include "common/harness/program.hpp"

namespace halo {

// One problem that variants are to be run on. Its data is made when the first of them is checked and
// freed after the last: a billion cells are held once, and never together with another billion.
struct Conv1dTask {
  conv::Problem1d problem;
  std::vector<float> mask;  // [mask_width]
  int threads;
  std::uint64_t seed;  // of the data
  // The data instead, if it is not to be made from the seed.
  std::shared_ptr<const Conv1dWorkload> recording;
  // Not empty: only the trials are run, and why.
  std::string too_large;
  bool transfers = true;  // whether they are timed, where there are any
  // Also tried, before the problem itself; may be empty.
  std::vector<Conv1dTrial> trials;
};

// A variant, and what stands as its stage in its rows: 04_conv1d_tiled_halo, or peers.
struct Conv1dEntry {
  std::string stage;
  Conv1dVariant variant;
};

// Adds one candidate for each entry. `saved` gets the outputs, [channel][sample], of the variant
// `saved_variant`. Everything given by reference must outlive the candidates.
void add_candidates(std::vector<Candidate>& candidates, const std::vector<Conv1dEntry>& entries,
                    Backend& backend, const Conv1dTask& task, const std::string& saved_variant,
                    std::vector<std::vector<float>>& saved);

// Empty if backend and machine have room for the problem, else why not.
std::string too_large_for(const conv::Problem1d& problem, Backend& backend, int channels);

}  // namespace halo
