// A stage's program: options, choice of variants and problems, run, tables, files, exit status. A
// family brings its own options and what they mean (ProgramFamily); the rest is here, once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/candidates.hpp"
#include "common/harness/core/timing.hpp"
#include "common/report/command_line.hpp"
#include "common/report/row_tables.hpp"

namespace halo {

struct OutputOptions {
  std::string color = "auto";
  std::string json;  // empty: none
  RenderRows render = render_table;
  bool strict = false;  // traffic that differs is a failure
};

// What every program has.
struct ProgramOptions {
  std::string seed;
  std::string variant;
  std::string without;
  bool no_peers = false;
  bool no_times = false;
  bool no_trials = false;
  std::string data;
  bool tiny_gpu = false;
  bool show_output = false;
  bool list = false;
  OutputOptions out;
  // Where the family has them.
  bool bench = false;
  std::string set;
  bool resume = false;
  bool search = false;
  bool plan = false;
  std::string gpu;
};

// One problem and what is run on it, without peers.
struct Job {
  Task task;  // without trials
  std::vector<Entry> entries;
};

// What a program is to do.
struct ProgramWork {
  std::vector<Job> jobs;
  // Somebody named these very problems: --plan then prints also what a stage refuses.
  bool named = false;
  bool peers = true;
  bool trials = true;
  bool roofs = false;  // measured whatever the problems' size
  // Not empty: nothing is run, and why.
  std::string not_run;
  // Writes what Job::task.saved_variant computed, and says so in a line; with the file's name, for the
  // case that it must not be written.
  std::string target;
  std::function<std::string(SavedOutputs& outputs)> save;
};

// What the programs know when they choose problems.
struct Choice {
  const ProgramOptions& options;
  const std::vector<AnyStage>& stages;
  std::vector<Entry> entries;  // the chosen variants
  std::uint64_t seed;
  Backend& backend;
};

// The labels to run where none is named: a single stage may have its own.
std::string usual_problems(const Choice& choice, const std::string& simulated,
                           const std::string& measured);

// The options of a run of one family, and what they mean.
class ProgramRun {
 public:
  virtual ~ProgramRun() = default;
  virtual void add_options(CommandLine& line, ProgramOptions& options) = 0;
  // Everything that can be wrong with the command is found before anything runs: throws UsageError,
  // data::DataError or std::invalid_argument, in one line.
  virtual void require_sense(const ProgramOptions&) {}
  virtual ProgramWork choose(const Choice& choice) = 0;
};

// A family of problems, as its programs see it.
struct ProgramFamily {
  std::string name;     // pooling
  std::string problem;  // what one problem is called: layer
  // How problems are named, in a few lines, and arguments of an example.
  std::string help;
  std::vector<std::string> examples;
  // Sets of published problems (bench_sets.hpp), each timed briefly, in a run that can be taken up
  // again (--bench, --set, --resume), and shown so; null: none.
  RenderRows render_sets = nullptr;
  bool has_plans = false;  // --plan, --gpu
  std::function<std::unique_ptr<ProgramRun>()> run;
};

// What a program of these stages is about, for people: a name, or two.
std::string title(const std::vector<AnyStage>& stages);

// The main function. `timing` is for runs of single problems; --bench takes its time.
int run_program(int argc, const char* const* argv, const ProgramFamily& family,
                const std::vector<AnyStage>& stages, const std::vector<AnyVariant>& peers,
                Backend& backend, const TimingSettings& timing);

// ---- What a program that is of no family does alike: stage 13's. ----

// Takes the variants that --without names out of the list: of things with such a name.
template <class Item, class Name>
void leave_out(std::vector<Item>& all, const std::string& without, const Name& name) {
  if (without.empty()) return;
  for (const std::string& left_out : split(without)) {
    const auto is = [&](const Item& item) { return name(item) == left_out; };
    if (std::erase_if(all, is) == 0) {
      throw UsageError("--without: there is no variant '" + left_out + "'");
    }
  }
}

// --seed, --variant, --json, --no-peers, --no-times, --no-trials, --strict, --list, --color.
void add_program_options(CommandLine& line, const std::string& family, ProgramOptions& options);

// The file's name, from how the program was called.
std::string program_name(int argc, const char* const* argv, const std::string& otherwise);

// The seed that was given, or a fresh one.
std::uint64_t make_seed(const std::string& text);

// Before the first launch: a run that ends badly can be repeated.
void announce_seed(std::uint64_t seed);

// One line of --list, and another if the variant can't be run. `mark`: what is said of it besides.
void list_variant(const std::string& name, const std::string& mark, const std::string& description,
                  const std::string& unavailable);

// Results without rows: the machine, its build, and the libraries' versions ("cuDNN 9.14.0", or
// empty).
Results begin_results(int argc, const char* const* argv, std::uint64_t seed, Backend& backend,
                      const std::vector<std::string>& versions);

// Measures the backend's roofs into the results' machine.
void measure_roofs(Results& results, Backend& backend, Progress& progress);

// --no-times.
void leave_out_times(std::vector<Candidate>& candidates);

// Prints the table on stdout, writes the JSON, and returns the exit status.
int publish(Results results, const OutputOptions& options);

// Runs `body` and turns what it throws into one line on stderr, `PROGRAM: message`, and exit
// status 2, or 74 for results that could not be written, be it to standard output.
int guarded_main(const char* program, const std::function<int()>& body);

}  // namespace halo
