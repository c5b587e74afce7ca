// Running candidates: each is checked, then those that are right are timed, in turn. Knows no problem
// and no variant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/report/rows.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// What the arrays of a timed call are to the last cache: all calls on the same ones, or each call on
// some that the cache has lost since they were last used.
enum class Cache { hot, cold };

// One variant on one problem, as the generic part sees it.
struct Candidate {
  Row row;  // stage, backend, variant, source, description, task, role and problem filled in
  // Fills check, hazards and traffic.
  std::function<void(Row&, Progress&)> check;
  // Prepares `calls` serial calls. Empty: row.time.reason says why the candidate is not timed.
  std::function<std::unique_ptr<Batch>(int calls, Cache cache)> batch;
  // The same with the cache hot, of calls that may begin before the one before them has ended; and of
  // packing the filters, which is done once for any number of calls. Empty: there is no such thing.
  std::function<std::unique_ptr<Batch>(int calls)> overlapped_batch = {};
  std::function<std::unique_ptr<Batch>(int calls)> pack_batch = {};
  // Calls until the same arrays come again, with Cache::cold; 1: one call alone fills the cache, so
  // that hot and cold are the same; 0: cold is not measured.
  std::function<int()> cold_calls;
  // Milliseconds for one call with its transfers; empty where there are none.
  std::function<double()> time_with_transfers;
  // After the timing: what was chosen inside. May be empty.
  std::function<std::string()> detail;
  // Gives up what it and the others of its problem have on the device; they make it again when they are prepared. Empty:
  // the device can't be begun anew between them.
  std::function<void()> drop = {};
  double min_bytes = 0;  // of one call, for GB/s and GFLOP/s
  double flops = 0;
};

// How thoroughly candidates are timed.
struct TimingSettings {
  int rounds = 15;
  int fewest_rounds = 9;
  double round_ms = 4;          // a round repeats short calls until it lasts this long
  int fewest_calls = 20;        // of a round, where calls are short
  double variant_ms = 1500;     // a variant's rounds together, if that leaves enough of them
  double long_round_ms = 1000;  // rounds this long are worth three only
  double warm_up_ms = 500;      // of the machine, before the first round of a problem
};

// While somebody waits for a table: `run`.
inline constexpr TimingSettings kRunTiming{9, 5, 1, 5, 100, 200, 30};

// For hundreds of problems in minutes: no fewer rounds than enough, each as short as the clock allows.
inline constexpr TimingSettings kLeanTiming{9, 9, 1, 5, 100, 200, 30};

// Checks all candidates, then times those with no check and no hazard bad, a round of each in turn, so that a
// change of the clock meets all alike; rounds that ran at a throttled clock are left out. Candidates
// with different problems are timed apart. Then fills the ratios.
//
// Libraries try their ways in the check, and some of what they load then slows every launch of the process (after cuDNN's
// FFT kernels an H200 takes 0.36 us longer for each). So where calls are short they are timed on a device that was begun
// anew, where a library runs nothing but what it has chosen.
//
// A round is a batch of serial calls; the row has the median of the rounds and its spread. How a
// batch is timed is the backend's to say (Backend::batch).
std::vector<Row> run_candidates(std::vector<Candidate>& candidates, Backend& backend,
                                Progress& progress, const TimingSettings& settings = {});

}  // namespace halo
