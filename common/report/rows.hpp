// Results of stage programs as rows. Knows no CUDA, no simulator and no convolution, so that the
// `halo` program can merge the rows of many stage programs: what a row is about it says itself.
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

/// The reason of what was not run begins so where the machine was at fault: of the program nothing is known.
inline constexpr const char* kNoVerdict = "no verdict: ";

// What is known of a check that failed, beside its reason. All of it is for people, and what is not
// known is empty.
struct Diagnosis {
  std::string smallest;  // of the wrong problems: "length 5, mask 3, 32 threads"
  std::string place;     // its first wrong output: "output[4]", "output[n 0, k 3, p 1, q 2]"
  std::string found;     // what stands there: "0.31", "never written"
  std::string expected;  // what should: "-1.07"
  std::string pattern;   // what its wrong outputs have in common, a sentence
  int tried = 0;         // small problems, and those of them that are wrong
  int wrong = 0;
  std::string kind;         // which are: "right: mask 1 only"
  std::string again;        // the command that repeats the smallest
  std::string origin = {};  // who computes that output, and from what, where that is known
  bool operator==(const Diagnosis&) const = default;
};

// Problems near 2^31 cells: a few blocks of each are run, in the simulator.
struct LargeProblems {
  int tried = 0;       // of the trials
  std::string which;   // "length 2,147,479,551, mask 9, 256 threads (26 of 8,388,592 blocks)"
  std::string reason;  // why one was not run, if one was not
  bool operator==(const LargeProblems&) const = default;
};

// Verification against the double-precision reference.
struct Check {
  Outcome outcome = Outcome::not_run;
  std::string reason;        // one sentence if not good: what failed on which shape, or why not run
  int shapes = 0;            // problems compared
  double worst_share = 0.0;  // worst |error| / bound; over 1 is wrong. Infinite for a NaN.
  int trials = 0;            // of the shapes the small ones, which are tried before the row's own
  // Nothing came of it: "signal 11 (Segmentation fault)", "no sign of life for 300 s". Empty: it ended.
  std::string crash = {};
  Diagnosis diagnosis = {};
  LargeProblems large = {};
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
  int remedy = 0;       // the greater, the more its advice asks for; not in results
  // Where the kernel calls the function that the line is in; line 0: it is the kernel's own.
  std::string call_file = {};
  int call_line = 0;
  bool operator==(const Hazard&) const = default;
};

struct Hazards {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  std::vector<Hazard> findings;
};

// What kernels printed with printf, of all problems that were tried.
struct Printed {
  std::string where;               // the first problem with which something was printed
  std::vector<std::string> lines;  // the first ones
  std::uint64_t total = 0;         // how many there were
};

// Counter values by the simulator's names, in the simulator's order.
using CounterList = std::vector<std::pair<std::string, std::uint64_t>>;

// What one line of a kernel's source counted, without the counters that are 0.
struct LineCounts {
  std::string file;
  int line = 0;
  CounterList counted;
  bool operator==(const LineCounts&) const = default;
};

// Launches that are alike: how many there are, and what each asks the GPU for.
struct LaunchFigures {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;        // of a grid
  std::uint64_t threads = 0;       // of a block
  std::uint64_t shared_bytes = 0;  // of a block, static and dynamic
  auto operator<=>(const LaunchFigures&) const = default;
};

// What kernels ask for beside memory traffic. Lists are empty and figures negative where nobody
// predicted or saw them.
struct Figures {
  std::vector<LaunchFigures> predicted;
  std::vector<LaunchFigures> counted;
  std::int64_t fp64_predicted = -1;    // operations in double precision, of all threads
  std::int64_t fp64_counted = -1;      // conversions among them
  std::vector<LineCounts> fp64_lines;  // the lines that do them, as fp64_operations
  std::int64_t unfreed_bytes = -1;     // allocated by the call itself and not freed
  int registers = -1;                  // of a thread, the most of all kernels; where nvcc made them
  int local_bytes = -1;                // of a thread, beside the registers; there too
  std::int64_t tensor_predicted =
      -1;  // instructions of tensor cores; negative also if there are none
  std::int64_t tensor_counted = -1;
  std::vector<LineCounts> tensor_lines;  // the lines that have them, as tensor_instructions
  bool operator==(const Figures&) const = default;
};

// Predicted beside counted. Figures that do not exist are negative (JSON: null). What differs is no
// mistake by itself: a right kernel may cost otherwise.
struct Traffic {
  Outcome outcome = Outcome::not_run;  // of the counters and of the figures
  std::string reason;
  CounterList predicted;
  CounterList counted;
  std::vector<LineCounts> lines;  // whose counted these are; only where something differs
  Figures figures;
  double bytes_per_output_predicted = -1;  // 32 x global sectors / outputs
  double bytes_per_output_counted = -1;
  double sectors_per_request = -1;  // global loads, counted
  double shared_conflicts = -1;     // loads and stores, counted
};

// Lines of a file, first to last.
struct LineRange {
  std::string file;  // from the repository's root
  int first = 0;
  int last = 0;
  bool operator==(const LineRange&) const = default;
};

// A branch that always went the other way, or a loop that never turned a second time (`again`).
struct UntakenBranch {
  std::string file;
  int line = 0;
  int column = 0;
  int to_line = 0;  // where it never led; 0: out of its file or function
  bool again = false;
  bool operator==(const UntakenBranch&) const = default;
};

// Which lines of the variant's own kernels were executed by all that it was tried with so far, in this
// row and those before it. In JSON REACHED, UNREACHED, NOT RUN. Lines that were not reached are a gap in
// the trials, no fault of the variant: a run does not fail by them.
struct Coverage {
  Outcome outcome = Outcome::not_run;
  std::string reason;                  // why not run
  int lines = 0;                       // that have code
  std::vector<LineRange> unreached;    // in order
  std::vector<UntakenBranch> untaken;  // of lines that were reached
};

// The rounds of one variant in one state of the caches: milliseconds for one call. Negative: not
// measured.
struct Spread {
  int rounds = 0;
  double median_ms = -1;
  double p10_ms = -1;
  double p90_ms = -1;
  // A/A: the median of the even rounds against that of the odd ones, |a / b - 1|. The same code was
  // timed both times, so a difference between variants that is smaller than this is none.
  double repeat_spread = -1;
};

// Time of one call. What is compared is always measured in one run, in turn.
struct Time {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  std::string method;        // how: "graph of 200 calls", "stream, 20 calls", "wall clock, 3 calls"
  Spread hot;                // all calls on the same arrays
  Spread cold;               // each call on arrays that the L2 cache has lost; GPU only
  Spread transfers;          // one call with both transfers, pageable host memory; GPU only
  Spread overlapped;         // as hot, but a call may begin before the one before it has ended
  double packing_ms = -1;    // of filters, once for any number of calls, whose times are without it
  int discarded_rounds = 0;  // rounds left out because the clock was throttled
  // Not negative: all rounds, twice, ran below the clock of the others, so they stand; their clock.
  double low_clock_mhz = -1;
  double gb_per_s = -1;  // smallest possible traffic / hot median
  double cold_gb_per_s = -1;
  double gflop_per_s = -1;  // operations of the definition / hot median
  // Shares of the machine's roofs (Machine::roofs). Bandwidth is that of the cold calls, where there
  // are any: what the caches hold needs no memory.
  double share_of_copy = -1;
  double share_of_fp32 = -1;
  // Times of others / this time, same problem: cold where both were measured cold, else hot.
  double ratio_to_previous = -1;   // the variant before
  double ratio_to_copy = -1;       // copying as many bytes
  double ratio_to_best_peer = -1;  // the fastest library that computes the same
  std::string best_peer;
};

// What a row is in its table: one of the course's variants, a library that computes the same, a
// copy of as many bytes (the floor of whatever reads and writes them once), or a library that computes
// something less exact and stands beside them: nothing is compared with it.
enum class Role { variant, peer, copy, beside };

// Figures that somebody else published for the same problem, beside which ours are set.
struct Published {
  std::string source;                                   // "BU report, Table 1, Tesla V100-SXM2"
  std::vector<std::pair<std::string, double>> figures;  // by name with the unit: gpu_ms
};

// A problem's parameters by name, in reading order: length, mask_width, threads, border.
using Value = std::variant<std::int64_t, std::string>;
using Problem = std::vector<std::pair<std::string, Value>>;

// What a program could not even begin with.
struct Start {
  bool compiled = true;  // false: the row is of a program that does not compile
};

struct Row {
  std::string stage;    // 04_conv1d_tiled_halo
  std::string backend;  // sim, gpu or cpu
  std::string variant;  // tiled_halo
  std::string source;   // stages/04_conv1d_tiled_halo/1_tiled_halo.cu
  std::string description;
  Role role = Role::variant;
  std::string detail;   // what was chosen inside: a library's algorithm and mathematics
  std::string runs_as;  // for a variant that only chooses another of its stage: which
  std::vector<std::string> chooses_from;  // and among which
  std::string layout;                     // of its images in memory, where that is not NCHW: chwn
  Problem problem;
  std::string label;  // the problem in a word where the papers have one for it: 7-1-3-384-192
  Check check;
  Hazards hazards;
  Traffic traffic;
  Coverage coverage;
  Time time;
  Printed printed;
  Published published;  // source empty: none
  Start start;

  // Out of line: else each file that has rows compiles all their vectors anew.
  Row();
  Row(const Row&);
  Row(Row&&) noexcept;
  Row& operator=(const Row&);
  Row& operator=(Row&&) noexcept;
  ~Row();
};

// What a backend can do at most, measured in the same run as the rows. Negative: not measured.
struct Roofs {
  double copy_gb_per_s = -1;     // bytes read + written by a copy of 1 GiB (CPU: 512 MiB)
  double fp32_gflop_per_s = -1;  // a loop of multiply-adds (2 operations each) in registers
  double clock_mhz = -1;         // the processors' clock during that loop
  // Between host and GPU, each way, 256 MiB: memory of new, and page-locked memory.
  double to_gpu_gb_per_s = -1;
  double from_gpu_gb_per_s = -1;
  double to_gpu_pinned_gb_per_s = -1;
  double from_gpu_pinned_gb_per_s = -1;
};

struct Machine {
  std::string cpu;
  std::string gpu;  // empty: none
  std::string driver;
  std::string cuda;
  std::string compiler;
  std::string build;  // "optimised", or why times mean nothing
  std::vector<std::pair<std::string, std::string>> libraries;  // cuDNN 9.14 ...
  int cpu_threads = 0;
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::vector<std::pair<std::string, Roofs>> roofs;  // by backend: cpu, gpu
};

// How the run ended that these results are of. Not in the JSON.
struct RunEnd {
  std::string not_written;  // what a program could not write, and why; empty: nothing
  int interrupted = 0;      // the signal that ended it before all had run
};

struct Results {
  std::string command;
  std::string date;  // ISO 8601, UTC
  std::uint64_t seed = 0;
  Machine machine;
  std::vector<Row> rows;
  RunEnd end = {};
};

// Command, date of now, CPU and compiler filled in; the GPU is the backend's to fill.
Results new_results(int argc, const char* const* argv, std::uint64_t seed);

// Exit statuses, the same for every program and command. Where several hold, the first of these: 74 results
// were to be written and could not be, 1 a result is wrong, 2 a program does not compile, 77 nothing was
// run. (2 is wrong use as well: then nothing is begun.)
inline constexpr int kNotWritten = 74;

// 1 any column of any row is bad, but for traffic, which may differ unless `strict`; 2 a program did not
// compile; 0 what was checked is good; 77 no row was checked (also when there are no rows): small
// problems alone are no row's check.
int exit_status(const std::vector<Row>& rows, bool strict = false);
// The same of a run: also 74, and 128 + the signal of one that was interrupted.
int run_status(const Results& results, bool strict = false);

// Sets the ratios of each timed row, among the rows with the same backend and problem: to the nearest
// timed variant before it, to the copy (Role::copy), and to the fastest peer (Role::peer). To be
// called again on rows merged from several runs.
void fill_ratios(std::vector<Row>& rows);

// Sets the shares of the machine's roofs of each timed row, by its backend.
void fill_shares(std::vector<Row>& rows, const Machine& machine);

}  // namespace halo
