// The part of a stage program that is the same for every family of problems: run the checks, time
// what passed, print the table, write the JSON, choose the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend.hpp"
#include "common/harness/report.hpp"
#include "common/harness/terminal.hpp"

namespace halo {

// One variant on one problem, as the generic part sees it.
struct Candidate {
  Row row;  // stage, backend, variant, source, description, task and problem filled in
  // Fills check, hazards and traffic.
  std::function<void(Row&, Progress&)> check;
  // Milliseconds for one of `repeats` serial calls. Empty: row.time.reason says why not.
  std::function<double(int repeats)> time;
  // Milliseconds for one call with its transfers; empty where there are none.
  std::function<double()> time_with_transfers;
  double min_bytes = 0;  // of one call, for GB/s and GFLOP/s
  double flops = 0;
};

// Checks all candidates, then times those with nothing bad, a round of each in turn, so that a
// change of clock meets all alike. Candidates with different problems are timed apart.
std::vector<Row> run_candidates(std::vector<Candidate>& candidates, Progress& progress);

struct OutputOptions {
  std::string color = "auto";
  std::string json;           // empty: none
  bool report_table = false;  // the report's own table instead of ours
};

// Prints the table on stdout, writes the JSON, and returns the exit status.
int publish(Results results, const OutputOptions& options);

// Runs `body` and turns what it throws into one line on stderr, `PROGRAM: message`, and exit
// status 2.
int guarded_main(const char* program, const std::function<int()>& body);

}  // namespace halo
