// From the variants of the 2D family and a layer to candidates that can be checked and timed. Private
// to the harness.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/harness/conv2d.hpp"
#include "common/harness/program.hpp"

namespace halo {

struct Conv2dData;

// One layer that variants are to be run on. Its data is made when the first of them is checked and
// freed after the last.
struct Conv2dTask {
  conv::ConvLayer layer;
  std::uint64_t seed;          // of the data
  std::string too_large = {};  // not empty: only the trials are run, and why
  bool transfers = true;       // whether they are timed, where there are any
  bool cold = true;            // whether calls are also timed with a cold cache, where there is one
  // Beyond so many products the data repeat: see conv::affordable_repeat.
  std::int64_t reference_products = conv::kReferenceProducts;
  // Also tried, before the layer itself; may be empty.
  std::vector<conv::ConvLayer> trials = {};
  // Not null: run on these, not on data from the seed. They belong to the layer and do not repeat.
  std::shared_ptr<const Conv2dData> data = nullptr;
  // The outputs of this variant are kept, [N][K][P][Q]; empty: of none.
  std::string saved_variant = {};
  std::vector<float>* saved = nullptr;
};

// A variant, and what stands as its stage in its rows: 06_conv2d_direct, or peers.
struct Conv2dEntry {
  std::string stage;
  Conv2dVariant variant;
  bool tried = false;  // on trials, before: not again
};

// A row's problem: N, C, H, W, K, R, S, stride, padding, the last two as text ("2x1") where down and
// across differ.
Problem problem_of(const conv::ConvLayer& layer);

// Adds one candidate for each entry. The backend must outlive the candidates.
void add_candidates(std::vector<Candidate>& candidates, const std::vector<Conv2dEntry>& entries,
                    Backend& backend, const Conv2dTask& task);

// Empty if backend and machine have room for the layer (without workspaces), else why not.
std::string too_large_for(const conv::ConvLayer& layer, Backend& backend, bool transfers);

}  // namespace halo
