// The commands of the `halo` program. Each prints its data on stdout, says anything else on stderr,
// and returns the exit code (common/report/rows.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/build/build_folder.hpp"
#include "common/build/errors.hpp"
#include "common/report/table.hpp"

namespace halo {

class Exercises;
namespace grader {
struct Assignment;
}

/// Options of the stage and ladder programs, with their values (a flag has none).
using PassedOptions = std::vector<std::pair<std::string, std::string>>;

/// An option that the programs of some families of problems have and others do not.
struct FamilyOption {
  std::string name;                   // --batch
  std::vector<std::string> families;  // conv2d, network
};

struct RunOptions {
  std::string stage;        // as typed: 4, 04 (10: two folders), 04_conv1d_tiled_halo; empty: all
  std::string on = "auto";  // sim, gpu or auto
  std::string json;         // file for the merged results; empty: none
  int time_limit = 600;     // seconds without a sign of life; 0: none
  bool all = false;         // every table, where a few lines would do
  bool search = false;      // beside the variants, the same with other numbers
  bool plan = false;        // print how the stage would divide its layers, and stop
  std::string color = "auto";
  PassedOptions passed_on;
  std::vector<FamilyOption> of_families;  // those given that not every program has
};

struct TestOptions {
  std::string what;         // a suite or a stage, whole; empty: the short suite of all rooms
  bool all = false;         // everything instead
  std::string on = "auto";  // sim or gpu: only the tests that belong to it or to neither
  std::string color = "auto";
};

struct TryOptions {
  std::string exercise;     // as typed: 4, 04, tile_and_halo; empty: the first that is not passed
  std::string on = "auto";  // sim, gpu or auto
  std::optional<std::uint64_t> seed;  // of the check; if not given a fresh one
  int time_limit = 120;               // seconds without a sign of life; 0: none
  bool ask = true;                    // the predictions, before the first run
  bool all = false;                   // more than a screen
  std::string color = "auto";
};
using WatchOptions = TryOptions;

struct DebugCommand {
  std::string exercise;
  std::string block;  // numbers as typed; empty: those of the first wrong output
  std::string thread;
  std::string line;  // of the exercise's file; empty: where the kernel begins
  std::optional<std::uint64_t> seed;
  bool batch = false;
  bool dap = false;  // an editor has started it
};

struct TraceOptions {
  std::string what;       // a stage as typed, a .cu file, or a program that simcc made
  bool exercise = false;  // the student's file of the exercise of that number instead
  std::string numbers;    // of the exercise's problem: 1000,9,256; empty: the check's choice
  std::string variant;    // of the stage: one, or several, a,b; empty: all in one run
  std::string arguments;  // of a file or program, as a shell would part them at blanks
  std::string output;     // the page; empty: in the build folder
  bool explain = false;   // words instead of a page
  bool open = true;       // the page, where there is a screen
  std::string color = "auto";
  PassedOptions passed_on;  // to the stage's program
  std::vector<FamilyOption> of_families;
};

struct HuntOptions {
  std::string hunt;   // as typed: 7, 07, softmax; empty: all
  std::string after;  // only those for who has come so far; empty: all
  int line = 0;       // the line that the student holds to be wrong; 0: none
  std::string kind;   // and the kind of the mistake
  bool kinds = false;
  std::string color = "auto";
};

struct GradeOptions {
  std::string submission;             // a file, a folder or an archive
  std::string exercise;               // only this one, as typed; empty: all that are in it
  std::string assignment;             // a file; empty: the course's own, if this copy has one
  std::string student;                // whose it is; empty: as the submission is called
  std::optional<std::uint64_t> seed;  // of the inputs; if not given the assignment's
  bool own_inputs = false;  // those of the student's own copy, which follow from seed and student
  std::string format;       // formats.hpp
  std::string output;       // a file; empty: the standard output
  std::string feedback;     // full, kind or score; empty: as the assignment says
  std::string color = "auto";

  // A whole class (grade_class.cpp).
  std::string class_of;                   // the submissions: a folder, or a list with a path a line
  std::string roster;                     // a CSV of who is in the class
  std::string results = "class-results";  // the folder for what comes of it
  int jobs = 0;                           // graders at a time; 0: a processor each
  int shard = 1;                          // of the submissions every `shards`th, from this one on
  int shards = 1;
  int submission_limit = 14'400;  // seconds for one grader, which is then no verdict
  std::vector<std::string> passed_on =
      {};                        // to the command that grades one: what else was asked for
  std::string sandbox = "auto";  // at most this level: namespaces, confined, limits
  std::string require_sandbox;   // at least this one; empty: any
  bool time = false;             // on a GPU too, beside the course's kernels
};

struct PackOptions {
  std::string what;                   // student, instructor or a platform
  std::string target;                 // a new folder, or a .zip, .tar.gz or .tar
  std::string roster;                 // CSV with a column id; empty: none
  std::string student;                // an id; empty or "all": whoever is in the roster
  std::optional<std::uint64_t> seed;  // the course's; if not given the assignment's
  std::string assignment;             // empty: solutions/assignment.json
  std::string exercises;              // of the assignment, as typed: 04,05; empty: all
};

struct BenchOptions {
  std::string family;       // conv1d, conv2d, ...; empty: all
  std::string set;          // of published problems; empty: all of the family
  bool resume = false;      // go on where the JSON ends that an earlier run left
  std::string on = "auto";  // cpu, gpu, or auto for both
  std::string json;
  Format format = Format::terminal;
  std::string color = "auto";
  PassedOptions passed_on;
  std::vector<FamilyOption> of_families;
};

struct CompareOptions {
  std::string a;  // results files
  std::string b;
  Format format = Format::terminal;
  std::string color = "auto";
  bool fail_on_regression = false;
  double threshold = 0;  // differences up to this share are ties
};

struct ReportOptions {
  std::string file;
  std::string beside;  // a second file, on the page beside the first; empty: none
  std::string html;    // where the page goes; empty: no page
  std::string with;    // another file whose rows join those of the first; empty: none
  Format format = Format::terminal;
  std::string color = "auto";
  bool summary = false;         // how the variants stand over all problems
  std::vector<std::string> by;  // the summary's problems in groups: R, N
  std::string stage;            // only this stage's rows, and the peers'; empty: all
};

/// The value of an option that is passed on; null if it was not given.
const std::string* value_of(const PassedOptions& options, const std::string& name);

/// The families whose programs have all these options; empty if they say nothing. Throws WrongUse if no
/// family has all of them.
std::vector<std::string> families_of(const std::vector<FamilyOption>& options);

/// "a b c".
std::string joined(const std::vector<std::string>& words);

/// "conv1d, conv2d or network".
std::string any_of(const std::vector<std::string>& words);

/// The stage program(s) that `run` would start. Throws WrongUse and CannotRun.
struct Choice {
  std::vector<Program> programs;
  std::string backend;  // sim or gpu
  std::string why;      // "gpu was asked for", "no NVIDIA driver on this machine", ...
};
Choice choose_programs(const BuildFolder& build, const RunOptions& options);

/// The ladder programs that `bench` would start, and those that it can't. Throws WrongUse if nothing
/// bears that name, and CannotRun if none can be started.
struct BenchChoice {
  std::vector<Program> programs;
  std::vector<Program> left_out;
  std::string reason;  // why these are left out
  std::string gpu;     // the GPU's name, if one is used
};
BenchChoice choose_ladders(const BuildFolder& build, const BenchOptions& options);

/// The tests that `test` would start. Throws WrongUse if nothing bears that name.
std::vector<TestProgram> choose_tests(const BuildFolder& build, const TestOptions& options);

int run_stages(const BuildFolder& build, const RunOptions& options);
int run_bench(const BuildFolder& build, const BenchOptions& options);
/// 1 only with fail_on_regression; 77 if no row could be compared.
int run_compare(const CompareOptions& options);
int run_report(const ReportOptions& options);
int run_tests(const BuildFolder& build, const TestOptions& options);
/// 0 passed, 1 not passed, 2 it does not compile.
int run_try(const BuildFolder& build, const TryOptions& options);
int run_watch(const BuildFolder& build, const WatchOptions& options);
int run_hint(const BuildFolder& build, const std::string& exercise, bool all);
/// 1 if it is not shown yet.
int run_show(const BuildFolder& build, const std::string& exercise, bool beside);
int run_reset(const BuildFolder& build, const std::string& exercise);
/// Becomes the process of the exercise's check.
int run_debug(const BuildFolder& build, const DebugCommand& command);
/// 0 what was named is right, or the file is mended; 1 not yet.
int run_hunt(const BuildFolder& build, const HuntOptions& options);
/// What this file asks for (empty: the course's own), each exercise and hunt by its whole name; with `only`, as typed, no
/// more than that exercise. Throws WrongUse, which names the file.
grader::Assignment assignment_of(const Exercises& exercises, const std::string& file,
                                 const std::string& only);
/// 0 graded, whatever the points; 2 not a submission.
int run_grade(const BuildFolder& build, const GradeOptions& options);
/// 0 all are graded, whatever the points; 1 some are not, by the grader's fault.
int run_grade_class(const BuildFolder& build, const GradeOptions& options);
int run_pack(const BuildFolder& build, const PackOptions& options);
int run_progress(const BuildFolder& build, const std::string& color);
int list_stages(const BuildFolder& build);
/// Writes the page, or explains. What a traced program found does not count: 0 there is something to be seen.
int run_trace(const BuildFolder& build, const TraceOptions& options);
/// Builds the site, prints where its first page is and, where there is a screen, opens it.
int run_docs(const BuildFolder& build, bool open);
int run_doctor(const BuildFolder& build);
/// Builds simcc and says how it is used.
int run_toolkit(const BuildFolder& build);

}  // namespace halo
