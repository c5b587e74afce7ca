// From variants and a problem to candidates that can be checked and timed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/core/check.hpp"
#include "common/harness/core/coverage.hpp"
#include "common/harness/core/timing.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// A problem that variants are to be run on. Its data are made when the first of them is checked and
// freed after the last: a billion cells are held once, and never together with another billion.
struct Task {
  AnyProblemPtr problem;
  std::uint64_t seed = 0;    // of the data
  DataKind kind = {};        // which are made from it
  bool on_tiny_gpu = false;  // all of it, with limits as low as a trial's there
  // The data instead, if they are not to be made from the seed: each is run on, in turn.
  std::vector<DatasetPtr> given = {};
  std::string not_run = {};  // not empty: only the trials are run, and why
  bool transfers = true;     // whether they are timed, where there are any
  bool cold = true;          // whether calls are also timed with a cold cache, where there is one
  // Beyond so many products the data repeat, where the family can do that.
  std::int64_t reference_products = conv::kReferenceProducts;
  bool trials = false;  // whether each variant is tried before, with AnyVariant::trials
  // The outputs of this variant are kept; empty: of none.
  std::string saved_variant = {};
  SavedOutputs* saved = nullptr;
};

// A variant, and what stands as its stage in its rows: 04_conv1d_tiled_halo, or peers.
struct Entry {
  std::string stage;
  AnyVariant variant;
  bool tried = false;                      // on trials, before: not again
  std::shared_ptr<TriedLines> lines = {};  // of all its problems; null: nobody asks
};

// A row's stage and variant.
using RowName = std::pair<std::string, std::string>;
inline RowName name_of(const Entry& entry) { return {entry.stage, entry.variant.name}; }

// Adds one candidate for each entry. The backend must outlive the candidates.
void add_candidates(std::vector<Candidate>& candidates, const std::vector<Entry>& entries,
                    Backend& backend, const Task& task);

// Empty if backend and machine have room for the problem (without workspaces), else why not.
std::string too_large_for(const AnyProblem& problem, Backend& backend, bool transfers);

// ---- What those need that are no single problem: networks. ----

// Empty, or why the simulator is not asked for so much work, counted in `units`.
std::string too_large_for_simulator(std::int64_t work, const std::string& units = "products");

// Empty, or why the memory of this machine or of its GPU does not hold a problem that needs so many
// bytes there. `what` names it: "length 1,000".
std::string too_large_for_memory(const std::string& what, std::int64_t host_bytes,
                                 std::int64_t device_bytes, Backend& backend);

// The check of a candidate: its trials (empty: none), then its own problem, unless `reason` says why
// it does not run that; the row says what was left out, and why.
void check_candidate(Row& row, Progress& progress, const std::string& reason,
                     const std::function<void()>& trials, const std::function<void()>& problem);

}  // namespace halo
