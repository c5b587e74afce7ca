// Starts stage and ladder programs and merges what they report: what `run` and
// `bench` have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/cli/commands.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/rows.hpp"

namespace halo {

/// What is asked of the programs.
struct Request {
  std::string command;             // as typed, for the results file
  PassedOptions passed_on;         // options for each of them
  std::vector<std::string> flags;  // options without a value
  std::string json;                // file for the results; empty: none
  // The one program that is run writes that file itself, again and again as it goes, so that one that
  // is interrupted leaves what it had; with `resume` it takes up what is there.
  bool grows = false;
  bool resume = false;
  // A variant that takes its program down is told, and the others still run.
  bool carries_on = false;
  // Seconds without a sign of life after which a program is ended; 0: never.
  int time_limit = 0;
};

/// Whether traffic that differs from what was predicted fails.
bool is_strict(const Request& request);

/// Called when a program is done: all results so far, the first of its rows, and what it printed. Ratios
/// and shares of the roofs are those among the results so far.
using Finished =
    std::function<void(const Results& so_far, std::size_t first, const std::string& printed)>;

/// Builds the programs and runs them, in their order and each as soon as it is built, simulated ones two at a
/// time, all with one seed (a fresh one if none is passed on); merges rows and machines in that order. The next
/// are built while one runs, unless that would disturb its times. A program that crashes or contradicts itself becomes a
/// row that failed behind those it told before, one that cannot be built such a row alone, one that cannot
/// begin a row that was not run. What was told before a stop signal is there as well (RunEnd). Throws
/// WrongUse: a program refuses its options, the JSON or the build folder cannot be written.
Results run_programs(const BuildFolder& build, const std::vector<Program>& programs,
                     const Request& request, const Finished& finished = {});

/// Of a network only the whole: its layers, dozens, are in the JSON.
Results without_layers(const Results& results);

/// One machine as two files describe it. Only those that ran on the GPU know it.
Machine merged_machine(const Machine& a, const Machine& b);

/// The variant of a row that is about a program: it failed, or was not run.
inline constexpr const char* kProgramRow = "(program)";

/// The row of a program that was not run.
Row not_run_row(const Program& program, const std::string& reason);

/// Writes the JSON, if one is wanted. Throws data::NotWritten.
void save(const Results& results, const Request& request);

/// The machine, where there are times to read beside it, and the rows. Of a network only the whole.
std::string render(const Results& results, RenderRows rows, const TableOptions& options);

/// The same for tables that are shown as their programs end.
class TablesAsTheyCome {
 public:
  explicit TablesAsTheyCome(const TableOptions& options) : options_(options) {}
  /// What is new about the machine, and the tables of the rows from `first` on.
  std::string next(const Results& so_far, std::size_t first);
  /// What explains all tables; empty if there is nothing to explain.
  std::string end(const Results& all) const;

 private:
  TableOptions options_;
  std::vector<std::string> told_;  // of the machine
  bool any_ = false;
};

/// "on the GPU".
std::string place_of(const std::string& backend);

}  // namespace halo
