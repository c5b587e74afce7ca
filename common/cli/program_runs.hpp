// Starts stage and ladder programs one after the other and merges what they report: what `run` and
// `bench` have in common.
#pragma once

#include <string>
#include <vector>

#include "common/cli/commands.hpp"
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
};

/// The value of an option that is passed on; null if it was not given.
const std::string* value_of(const PassedOptions& options, const std::string& name);

/// Runs the programs, all with one seed (a fresh one if none is passed on), and merges rows and
/// machines; ratios and shares of the roofs are those of the merged rows. A program that crashes or
/// contradicts itself becomes a row that failed, one that cannot begin a row that was not run.
/// `printed` gets what the last of them printed, less its seed, if it ran to its end. Throws WrongUse:
/// a program is not built or refuses its options, the JSON cannot be written.
Results run_programs(const std::vector<Program>& programs, const Request& request,
                     std::string* printed = nullptr);

/// One machine as two files describe it. Only those that ran on the GPU know it.
Machine merged_machine(const Machine& a, const Machine& b);

/// The row of a program that was not run.
Row not_run_row(const Program& program, const std::string& reason);

/// Writes the JSON, if one is wanted. Throws WrongUse.
void save(const Results& results, const Request& request);

/// The machine, where there are times to read beside it, and the rows: our tables, many problems in a
/// few lines (render_brief), or the report's table. Of a network only the whole: its layers, dozens,
/// are in the JSON.
enum class Shown { tables, brief, report_table };
std::string render(const Results& results, Shown shown, const TableOptions& options);

/// "on the GPU".
std::string place_of(const std::string& backend);

}  // namespace halo
