// Results of stage programs as rows: how they are held, printed as a table, written as JSON and
// read back. Knows no CUDA, no simulator and no convolution, so that the `halo` program can merge
// the JSON of many stage programs into one table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace halo {

// The three things that can be said of any column. What is not run is never good.
// In JSON and tables: check PASS, FAIL, NOT RUN; hazards none, FOUND, NOT RUN;
// traffic EQUAL, DIFFERS, NOT RUN; time MEASURED, FAIL, NOT RUN.
enum class Outcome { good, bad, not_run };

// Verification against the double-precision reference.
struct Check {
  Outcome outcome = Outcome::not_run;
  std::string reason;        // one sentence if not good: what failed on which shape, or why not run
  int shapes = 0;            // problems compared
  double worst_share = 0.0;  // worst |error| / bound; over 1 is wrong. Infinite for a NaN.
};

// One hazard, as the simulator names it, or a stray or missing write the harness saw itself.
struct Hazard {
  std::string kind;
  std::string file;
  int line = 0;
  std::string other_file;  // second party of a race; empty if none
  int other_line = 0;
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> thread{};
  std::string array;
  std::uint64_t count = 0;
  std::string message;  // one sentence
  bool operator==(const Hazard&) const = default;
};

struct Hazards {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  std::vector<Hazard> findings;
};

// Counter values by the simulator's names, in the simulator's order.
using CounterList = std::vector<std::pair<std::string, std::uint64_t>>;

// Predicted beside counted. Figures that do not exist are negative (JSON: null).
struct Traffic {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  CounterList predicted;
  CounterList counted;
  double bytes_per_output_predicted = -1;  // 32 x global sectors / outputs
  double bytes_per_output_counted = -1;
  double sectors_per_request = -1;  // global loads, counted
  double shared_conflicts = -1;     // loads and stores, counted
};

// Time of one call. A GPU row's median is the kernel alone.
struct Time {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  int rounds = 0;
  double median_ms = -1;
  double p10_ms = -1;
  double p90_ms = -1;
  double transfers_ms = -1;  // median with both transfers, GPU only
  double gb_per_s = -1;      // smallest possible traffic / median
  double gflop_per_s = -1;
  double ratio_to_previous = -1;  // time of the variant before / this time, same problem
};

// A problem's parameters by name, in reading order: length, mask_width, threads, border.
using Value = std::variant<std::int64_t, std::string>;
using Problem = std::vector<std::pair<std::string, Value>>;

struct Row {
  std::string stage;    // 04_conv1d_tiled_halo
  std::string backend;  // sim, gpu or cpu
  std::string variant;  // tiled_halo
  std::string source;   // stages/04_conv1d_tiled_halo/tiled_halo.cu
  std::string description;
  int task = 0;  // the report's task id; 0 if it has none
  Problem problem;
  Check check;
  Hazards hazards;
  Traffic traffic;
  Time time;
};

struct Machine {
  std::string cpu;
  std::string gpu;  // empty: none
  std::string driver;
  std::string cuda;
  std::string compiler;
};

struct Results {
  std::string command;
  std::string date;  // ISO 8601, UTC
  std::uint64_t seed = 0;
  Machine machine;
  std::vector<Row> rows;
};

// Command, date of now, CPU and compiler filled in; the GPU is the backend's to fill.
Results new_results(int argc, const char* const* argv, std::uint64_t seed);

// 0 every row passed with nothing bad; 1 any column of any row is bad; 77 if no row was checked
// (also when there are no rows).
int exit_status(const std::vector<Row>& rows);

// Sets time.ratio_to_previous of each timed row: the time of the nearest timed row before it with
// the same backend and problem, divided by its own. To be called again on rows merged from several
// runs.
void fill_ratios(std::vector<Row>& rows);

// ---- JSON (schema_version 1) ----
std::string to_json(const Results& results);
// Throws std::runtime_error: one line that names `origin` and says what is wrong.
Results results_from_json(const std::string& text, const std::string& origin);
std::vector<Row> rows_from_json(const std::string& text, const std::string& origin);
// The file is whole or untouched (data::write_file). Throws data::DataError with one line.
void write_json(const std::string& path, const Results& results);
// Throws std::runtime_error with one line.
Results read_json(const std::string& path);

// ---- Text ----
struct TableOptions {
  bool color = false;
};

// One table per backend and problem, rows in the order given; under it the reasons of what was not
// run, then for each bad row what failed: the shape, each finding, each counter that differs.
std::string render_table(const std::vector<Row>& rows, const TableOptions& options = {});

// The source report's own table, per GPU variant: length, CPU ms, GPU ms, speedup, the last two
// with transfers and kernel only. The CPU column is the row of backend cpu and variant `loop` with
// the same length, mask_width and border. What was not measured reads NOT RUN.
std::string render_report_table(const std::vector<Row>& rows, const TableOptions& options = {});

}  // namespace halo
