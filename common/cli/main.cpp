// The `halo` program. The script of the same name at the top of the repository sets everything up and
// then calls this one, so both have the same commands.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "common/cli/commands.hpp"
#include "common/cli/program_runs.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/course.hpp"
#include "common/harness/program_options.hpp"
#include "common/process/process.hpp"
#include "common/report/command_line.hpp"
#include "common/report/rows.hpp"
#include "common/report/terminal.hpp"

namespace {

using namespace halo;
namespace fs = std::filesystem;

constexpr const char* usage =
    "Halo: a course in CUDA convolution that runs with or without a GPU.\n"
    "Usage: halo COMMAND [OPTIONS]\n"
    "\n"
    "Commands (each has --help):\n"
    "  run [STAGE]    run a stage, or all: check, hazards, memory traffic, time\n"
    "  bench [FAMILY] time all stages of a family beside its peers, on the CPU and the GPU\n"
    "  compare A B    two results files: what became faster, what slower\n"
    "  report FILE    a results file as a table, as Markdown, as CSV or as a page of charts\n"
    "  trace WHAT     see a kernel's memory accesses: a page of its lines, lanes, sectors and "
    "banks\n"
    "  test [WHAT]    a sample of all tests, or all of a suite or a stage; --all: every test\n"
    "\n"
    "  try [NN]       judge your file of an exercise: numbers, hazards, budget, points\n"
    "  watch [NN]     the same on each save, exercise after exercise\n"
    "  hint NN        the next hint of an exercise\n"
    "  show NN        its solution, once you have passed it\n"
    "  reset NN       its file as it was at the beginning; yours is kept\n"
    "  debug NN       its kernel under gdb, in the thread of the first wrong output\n"
    "  hunt [NN]      bug hunts: name the line and the kind, mend the file\n"
    "  progress       what is passed, your points, what is next\n"
    "\n"
    "  grade FILE     what a submission is worth\n"
    "  pack WHAT TO   a copy for students or instructors, or a platform's bundle\n"
    "\n"
    "  docs           the pages as a site: builds it and opens it\n"
    "  list           list the stages and the exercises\n"
    "  doctor         say what is present, and what each missing thing costs\n"
    "  help COMMAND   the same as COMMAND --help\n"
    "\n"
    "Options, before the command:\n"
    "  --help         this text\n"
    "  --version      the version\n"
    "  --build DIR    use this build folder, not the one that the program stands in\n"
    "\n"
    "Exit codes: 0 good, 1 a check or a test failed, 2 wrong use or a program that does not "
    "compile,\n"
    "74 results could not be written, 77 nothing could be run. Where several hold, the first of\n"
    "74, 1, 2, 77; the other programs run all the same.\n";

const std::vector<std::string> command_names = {
    "run",   "bench", "compare", "report",   "trace", "test", "try",  "watch", "hint",  "show",
    "reset", "debug", "hunt",    "progress", "grade", "pack", "docs", "list",  "doctor"};
constexpr const char* commands =
    "run, bench, compare, report, trace, test, try, watch, hint, show, reset, debug, hunt, "
    "progress, "
    "grade, pack, docs, "
    "list or doctor";

// This program stands in <build folder>/common/cli/.
fs::path own_build_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();
}

int complain(const std::string& text, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "halo: %s\n", data::printable(text, 2000).c_str());
  return code;
}

void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : ", ") + choice;
  throw WrongUse(option + ": '" + value + "' is none of " + text +
                 data::did_you_mean(value, choices));
}

// What the command line says before the command.
struct Global {
  fs::path build = own_build_folder();
};

constexpr const char* kFormats = "table, markdown or csv";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The families whose programs have a list of published problems, and go on where a file ends.
constexpr const char* kListed = "conv2d transform pooling softmax";

// The options that are handed to the programs which a command starts (program_options.hpp), as they are
// given. What several families understand each in its own way is one option here.
class PassedOn {
 public:
  enum class For { run, bench, trace };
  PassedOn(CommandLine& line, For command) {
    // A trace's own --output is the page, and it asks for no trials, peers and times anyway.
    const auto is_ours = [](const std::string& name) {
      return name == "--output" || name == "--no-peers" || name == "--no-times" ||
             name == "--no-trials" || name == "--strict" || name == "--show-output";
    };
    for (const ProgramOption& option : program_options()) {
      if (command == For::bench && !option.bench) continue;
      if (command == For::trace && is_ours(option.name)) continue;
      const std::string of = joined(option.families);
      const std::string help = (is_shared(option) ? of + ": " : "") + option.help;
      const auto known = std::find_if(options_.begin(), options_.end(),
                                      [&](const One& one) { return one.name == option.name; });
      if (known == options_.end()) {
        options_.push_back({option.name, option.unit, option.families, help, {}, false});
        continue;
      }
      known->help += ". " + help;
      known->families.insert(known->families.end(), option.families.begin(), option.families.end());
    }
    // What all stages have, then a heading for each family, then what several share.
    std::vector<std::string> groups = {"Of all stages"};
    for (const CourseStage& stage : course()) {
      const std::string group = "Of " + stage.family;
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
    groups.push_back("Of several families");
    const auto group_of = [&](const One& one) {
      return one.families.empty()       ? groups.front()
             : one.families.size() == 1 ? "Of " + one.families.front()
                                        : groups.back();
    };
    std::vector<One*> listed;
    for (One& one : options_) listed.push_back(&one);
    const auto place = [&](const One* one) {
      return std::find(groups.begin(), groups.end(), group_of(*one));
    };
    std::stable_sort(listed.begin(), listed.end(),
                     [&](const One* a, const One* b) { return place(a) < place(b); });
    for (One* const option : listed) {
      One& one = *option;
      line.group(group_of(one));
      if (one.unit.empty()) {
        line.flag(one.name, one.on, one.help);
      } else {
        line.option(one.name, one.unit, one.value, one.help);
      }
    }
  }

  PassedOptions given() const {
    PassedOptions all;
    for (const One& one : options_) {
      if (one.on || !one.value.empty()) all.emplace_back(one.name, one.value);
    }
    return all;
  }

  std::vector<FamilyOption> of_families() const {
    std::vector<FamilyOption> all;
    for (const One& one : options_) {
      if ((one.on || !one.value.empty()) && !one.families.empty()) {
        all.push_back({one.name, one.families});
      }
    }
    return all;
  }

 private:
  struct One {
    std::string name;
    std::string unit;
    std::vector<std::string> families;
    std::string help;
    std::string value;
    bool on;
  };

  // Whether another family has an option of that name too: then it must say whose this help is.
  static bool is_shared(const ProgramOption& option) {
    return std::count_if(program_options().begin(), program_options().end(),
                         [&](const ProgramOption& other) { return other.name == option.name; }) > 1;
  }

  std::vector<One> options_;  // stays as it is once the command line points into it
};

// 0 to 100, as a share.
double parse_percent(const std::string& option, const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 100)) {
    throw WrongUse(option + ": '" + text + "' is not a number from 0 to 100");
  }
  return value / 100;
}

int command_run(const Global& global, int argc, const char* const* argv) {
  RunOptions options;
  CommandLine line(
      "Runs a stage, or all: check, hazards, memory traffic, time.",
      "Options of stages are handed to their programs. Those of some families choose their "
      "stages:\n" +
          stages_by_family());
  line.positional("stage", options.stage,
                  "a stage: 04, 4 or its name (10 is 10a and 10b); all if left out");
  line.option("--on", "sim|gpu", options.on, "where to run; a GPU if there is one, if left out");
  line.option("--json", "FILE", options.json, "also write the results to this file");
  line.flag("--report-table", options.report_table,
            "the report's table: time at lengths 1e3, 1e5, 1e7 and 1e9");
  line.flag("--all", options.all,
            "every table; without a stage, or on a file of your own, a few lines are shown if left "
            "out");
  std::string time_limit;
  line.option(
      "--time-limit", "SECONDS", time_limit,
      "a variant that gives no sign of life for so long is ended; 600 if left out, 0: never");
  line.option("--color", "WHEN", options.color, "auto, always or never");

  line.flag(
      "--search", options.search,
      "beside the variants, the same with other numbers, to find this GPU's best (needs a stage)");
  line.flag(
      "--plan", options.plan,
      "conv2d network: print how the stage would divide its layers, or which kernel and layout "
      "it takes for each, and stop (needs a stage)");

  const PassedOn passed_on(line, PassedOn::For::run);
  if (!line.parse(argc, argv)) return 0;
  if (!time_limit.empty()) {
    options.time_limit = static_cast<int>(parse_number("--time-limit", time_limit, 0, 1'000'000));
  }
  options.passed_on = passed_on.given();
  options.of_families = passed_on.of_families();
  if (options.plan) options.of_families.push_back({"--plan", {"conv2d", "network"}});
  if (options.search) options.of_families.push_back({"--search", {"conv2d", "pooling"}});
  // All stages run on a file, of whatever kind, that only one family reads. (Networks take pictures of
  // one size only: they are asked for by their stage.)
  if (const std::string* input = value_of(options.passed_on, "--input");
      input != nullptr && options.stage.empty()) {
    const std::vector<std::string> families = families_of(options.of_families);
    const bool is_picture =
        input->ends_with(".png") || input->ends_with(".pgm") || input->ends_with(".ppm");
    if (families.size() > 1) {
      options.of_families.push_back({"--input " + *input, {is_picture ? "conv2d" : "conv1d"}});
    }
  }
  if (options.report_table) options.of_families.push_back({"--report-table", {"conv1d"}});
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});

  return run_stages(BuildFolder(global.build), options);
}

int command_bench(const Global& global, int argc, const char* const* argv) {
  BenchOptions options;
  std::string format = "table";
  CommandLine line("Times all stages of a family beside its peers: on the CPU, then on the GPU.",
                   "Without other options: all published problems. Options of stages are handed to "
                   "the bench programs.");
  line.positional("family", options.family,
                  "conv1d, conv2d, transform, pooling, softmax or network; all if left out");
  line.positional("set", options.set,
                  "of published problems, all if left out. conv2d: " + bench_set_names("conv2d") +
                      "; transform: " + bench_set_names("transform") + "; pooling: " +
                      bench_set_names("pooling") + "; softmax: " + bench_set_names("softmax"));
  line.option("--on", "cpu|gpu", options.on, "only there; both, if left out");
  line.option("--json", "FILE", options.json, "also write the results to this file");
  line.option("--format", "FORMAT", format, kFormats);
  line.option("--color", "WHEN", options.color, "auto, always or never");
  line.flag("--resume", options.resume,
            std::string(kListed) + ": go on where the --json file ends that an earlier run left");
  const PassedOn passed_on(line, PassedOn::For::bench);
  if (!line.parse(argc, argv)) return 0;
  options.passed_on = passed_on.given();
  options.of_families = passed_on.of_families();
  if (options.resume) options.of_families.push_back({"--resume", words_of(kListed)});
  if (!options.set.empty()) {
    options.of_families.push_back({"the set " + options.set, words_of(kListed)});
  }
  options.format = parse_format(format);
  require_one_of("--on", options.on, {"auto", "cpu", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});

  return run_bench(BuildFolder(global.build), options);
}

int command_compare(int argc, const char* const* argv) {
  CompareOptions options;
  std::string format = "table";
  std::string threshold;
  CommandLine line("Compares two results files: what became faster in B, what slower.",
                   "A difference inside the spread of the measurement, or within the A/A spread, "
                   "is a tie.");
  line.positional("A.json", options.a, "the earlier results");
  line.positional("B.json", options.b, "the later ones");
  line.option("--format", "FORMAT", format, kFormats);
  line.flag("--fail-on-regression", options.fail_on_regression,
            "exit code 1 if any row is slower or fails its check");
  line.option("--threshold", "PERCENT", threshold,
              "differences up to this are ties; 0 if left out");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  if (options.b.empty()) throw WrongUse("compare needs two results files: A.json B.json");
  options.format = parse_format(format);
  if (!threshold.empty()) options.threshold = parse_percent("--threshold", threshold);
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_compare(options);
}

int command_report(int argc, const char* const* argv) {
  ReportOptions options;
  std::string format = "table";
  std::string by;
  CommandLine line("Shows a results file, as `run` and `bench` write them with --json.", "");
  line.positional("FILE.json", options.file, "the results");
  line.positional("OTHER.json", options.beside, "with --html: another run, or machine, beside it");
  line.option("--html", "OUT.html", options.html,
              "a page of charts: ratios, bars against the roofs, roofline");
  line.option("--with", "FILE.json", options.with,
              "join these: a GPU's results and its CPU's, say");
  line.option("--format", "FORMAT", format, kFormats);
  line.flag("--report-table", options.report_table,
            "the source report's own table, beside what it published");
  line.flag(
      "--summary", options.summary,
      "how each variant stands over all problems: against the fastest library, and in its stage");
  line.option("--stage", "NN", options.stage, "only this stage, and what it is compared with");
  line.option("--by", "FIELD[,FIELD]", by,
              "the summary also in groups: R (the filter's size), N (the batch), any other field");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  if (options.file.empty()) throw WrongUse("report needs a results file: FILE.json");
  if (options.html.empty() && !options.beside.empty()) {
    throw WrongUse("one file, or two with --html; two as a table: halo compare");
  }
  if (!options.html.empty() && (options.summary || options.report_table || format != "table")) {
    throw WrongUse("--html has all of it: without --summary, --report-table and --format");
  }
  if (!by.empty() && !options.summary) throw WrongUse("--by groups a --summary");
  if (options.summary && options.report_table) {
    throw WrongUse("--summary or --report-table, not both");
  }
  for (std::size_t at = 0; !by.empty() && at <= by.size();) {
    const std::size_t end = std::min(by.find(',', at), by.size());
    options.by.push_back(by.substr(at, end - at));
    at = end + 1;
  }
  options.format = parse_format(format);
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_report(options);
}

int command_test(const Global& global, int argc, const char* const* argv) {
  TestOptions options;
  CommandLine line("Runs the tests: a sample of each room's, all, or all of one suite or stage.",
                   "The last line is `N passed, N failed`; what was not run is listed before it.");
  line.positional("what", options.what, "a suite (simt, conv, cli, ...) or a stage's number");
  line.flag("--all", options.all, "every test there is: before a change ends");
  line.option("--on", "sim|gpu", options.on, "only the tests for the simulator, or for a GPU");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});

  return run_tests(BuildFolder(global.build), options);
}

// `try` and `watch`: the same options, but for what has no use on a screen that is redrawn.
int command_try(const Global& global, int argc, const char* const* argv, bool watches) {
  TryOptions options;
  bool no_ask = false;
  std::string time_limit;
  CommandLine line(watches ? "Judges an exercise each time you save its file; end with q or Ctrl-C."
                           : "Judges your file of an exercise.",
                   "Your file is exercises/NN_name/*.cu, its task the README.md beside it.");
  line.positional("exercise", options.exercise,
                  "04, 4 or its name; the first that you have not passed, if left out");
  line.option("--on", "sim|gpu", options.on,
              "where to run; on the simulator, which sees most, if left out");
  line.flag("--no-ask", no_ask, "do not ask for predictions before the first run");
  if (!watches) line.flag("--all", options.all, "all that is wrong, however long");
  line.option(
      "--seed", "N", options.seed,
      "of the check's inputs; if left out your copy's, if it has one, else another each time");
  line.option("--time-limit", "SECONDS", time_limit,
              "the compiler or the check is ended that gives no sign of life for so long; 120 if "
              "left out, 0: never");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  options.ask = !no_ask;
  if (!options.seed.empty()) parse_number("--seed", options.seed, 0, 1'000'000'000'000'000'000);
  if (!time_limit.empty()) {
    options.time_limit = static_cast<int>(parse_number("--time-limit", time_limit, 0, 1'000'000));
  }
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});
  const BuildFolder build(global.build);
  return watches ? run_watch(build, options) : run_try(build, options);
}

int command_debug(const Global& global, int argc, const char* const* argv) {
  DebugCommand command;
  CommandLine line("Stops your kernel of an exercise in one thread, in the simulator, under gdb.",
                   "Without --block and --thread: in the thread of the first wrong output of the "
                   "smallest shape that is wrong.");
  line.positional("exercise", command.exercise, "04, 4 or its name");
  line.option("--block", "B", command.block, "the block, numbered through");
  line.option("--thread", "T", command.thread, "its thread, numbered through");
  line.option("--line", "N", command.line,
              "a line of your file; the beginning of the kernel, if left out");
  line.option("--seed", "N", command.seed,
              "of the inputs; if left out your copy's, if it has one, else another each time");
  line.flag("--batch", command.batch, "say where it stopped and what is known there, and end");
  if (!line.parse(argc, argv)) return 0;
  if (command.exercise.empty()) throw WrongUse("which exercise? ./halo debug 04, say");
  constexpr std::int64_t kMost = 2'147'483'647;
  if (!command.block.empty()) parse_number("--block", command.block, 0, kMost);
  if (!command.thread.empty()) parse_number("--thread", command.thread, 0, 1023);
  if (!command.line.empty()) parse_number("--line", command.line, 1, 1'000'000);
  if (!command.seed.empty()) parse_number("--seed", command.seed, 0, 1'000'000'000'000'000'000);
  return run_debug(BuildFolder(global.build), command);
}

int command_trace(const Global& global, int argc, const char* const* argv) {
  TraceOptions options;
  CommandLine line(
      "Shows what a kernel does with memory: one page, a file without network, with its source, "
      "the "
      "sectors and bank conflicts of each line, and warps drawn lane by lane onto sectors or "
      "banks.",
      "  ./halo trace 04                                   a stage\n"
      "  ./halo trace 06 --variant first,second            two variants side by side\n"
      "  ./halo trace 04 --exercise                        your file of exercise 04\n"
      "  ./halo trace docs/examples/transpose.cu           any CUDA file, or a program of simcc\n"
      "(The solution of an exercise: ./halo show.) Options of stages are handed to their "
      "programs.");
  line.positional("what", options.what, "a stage (04), a .cu file, or a program that simcc made");
  line.flag("--explain", options.explain,
            "say it in words, for the worst lines, instead of a page");
  line.option("--output", "FILE.html", options.output,
              "the page; in the build folder, if left out");
  line.flag("--exercise", options.exercise, "your own file of the exercise of that number");
  line.option("--numbers", "N,N", options.numbers,
              "with --exercise: the problem, as its launch() takes it; its check's, if left out");
  line.option("--args", "WORDS", options.arguments, "of a file or a program: its arguments");
  bool no_open = false;
  line.flag("--no-open", no_open, "only write the page");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  const PassedOn passed_on(line, PassedOn::For::trace);
  if (!line.parse(argc, argv)) return 0;
  options.open = !no_open;
  options.passed_on = passed_on.given();
  options.of_families = passed_on.of_families();
  if (const std::string* variant = value_of(options.passed_on, "--variant")) {
    options.variant = *variant;
    std::erase_if(options.passed_on, [](const auto& one) { return one.first == "--variant"; });
  }
  if (options.what.empty()) {
    throw WrongUse("what is to be traced? ./halo trace 04, say, or a .cu file");
  }
  if (options.explain && !options.output.empty()) {
    throw WrongUse("--explain and --output: words or a page, not both");
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_trace(BuildFolder(global.build), options);
}

int command_hunt(const Global& global, int argc, const char* const* argv) {
  HuntOptions options;
  std::string number;
  CommandLine line("Bug hunts: kernels with one mistake each.",
                   "Name the line and the kind, mend the file, and ask again.");
  line.positional("hunt", options.hunt, "07, 7 or its name; all are listed, if left out");
  line.option("--line", "N", number, "the line that you hold to be wrong");
  line.option("--kind", "KIND", options.kind, "what kind of mistake it is");
  line.flag("--kinds", options.kinds, "the kinds there are, and what they mean");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  if (!number.empty()) {
    options.line = static_cast<int>(parse_number("--line", number, 1, 1'000'000));
  }
  if (options.hunt.empty() && (options.line > 0 || !options.kind.empty())) {
    throw WrongUse("which hunt? ./halo hunt 07 --line N --kind KIND");
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_hunt(BuildFolder(global.build), options);
}

// What --class has to be told; the function that is returned reads it, once the line is parsed.
std::function<void()> class_options(CommandLine& line, GradeOptions& options) {
  struct Texts {
    std::string jobs, shard, limit;
  };
  const auto texts = std::make_shared<Texts>();
  line.group("A whole class");
  line.option("--class", "DIR|LIST", options.class_of,
              "all submissions in this folder, or in this list with a path a line");
  line.option("--roster", "FILE.csv", options.roster,
              "who is in the class: columns id, name and, if need be, submission");
  line.option("--results", "DIR", options.results,
              "where results go, and are gone on with; class-results if left out");
  line.option("--jobs", "N", texts->jobs, "graders at a time; one a processor if left out");
  line.option("--shard", "I/N", texts->shard,
              "only every Nth submission, from the Ith on; run without it in the end");
  line.option("--submission-limit", "SECONDS", texts->limit,
              "a grader that takes longer is ended; 1800 if left out");
  line.group("Options");
  return [texts, &options] {
    const auto read = [](const char* what, const std::string& text, int otherwise, int most) {
      return text.empty() ? otherwise : static_cast<int>(parse_number(what, text, 1, most));
    };
    options.jobs = read("--jobs", texts->jobs, 0, 1000);
    options.submission_limit = read("--submission-limit", texts->limit, 1800, 1'000'000);
    if (!texts->shard.empty()) {
      const std::size_t slash = texts->shard.find('/');
      if (slash == std::string::npos) {
        throw WrongUse("--shard: '" + texts->shard + "' is not as 2/5, the second of five");
      }
      options.shards = read("--shard", texts->shard.substr(slash + 1), 0, 100'000);
      options.shard = read("--shard", texts->shard.substr(0, slash), 0, options.shards);
      if (options.shard == 0 || options.shards == 0) {
        throw WrongUse("--shard: '" + texts->shard + "' is not as 2/5, the second of five");
      }
    }
    if (options.class_of.empty() &&
        (!options.roster.empty() || options.jobs > 0 || !texts->shard.empty())) {
      throw WrongUse("--roster, --jobs and --shard need --class DIR");
    }
  };
}

int command_grade(const Global& global, int argc, const char* const* argv) {
  GradeOptions options;
  CommandLine line("Says what a submission is worth.", "");
  line.positional("submission", options.submission,
                  "what was handed in: a .cu file, a folder, a .zip or a .tar");
  line.option("--exercise", "NN", options.exercise, "only this exercise");
  line.option(
      "--assignment", "FILE", options.assignment,
      "what is to be handed in, and the hidden cases; solutions/assignment.json, if left out");
  line.option("--student", "NAME", options.student,
              "whose it is; the submission's name, if left out");
  line.option("--seed", "N", options.seed, "of the inputs; the assignment's, if left out");
  line.flag("--own-inputs", options.own_inputs,
            "the inputs of the student's own copy: ./halo pack student --roster");
  line.option("--format", "FORMAT", options.format, any_of(grade_formats()));
  line.option("--output", "FILE", options.output,
              "the result, first one without points; on the standard output, if left out");
  line.option("--feedback", "LEVEL", options.feedback,
              "full, kind or score: what a student is told; as the assignment says, if left out");
  line.option(
      "--sandbox", "LEVEL", options.sandbox,
      "auto, namespaces, confined or limits: how well a student's program is kept, at most; "
      "the best that works here, if left out");
  line.option("--require-sandbox", "LEVEL", options.require_sandbox,
              "grade nothing where the level is less than this one");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  const auto parse_class = class_options(line, options);
  if (!line.parse(argc, argv)) return 0;
  if (!options.seed.empty()) {
    parse_number("--seed", options.seed, 0, 1'000'000'000'000'000'000);
  }
  require_one_of("--format", options.format, grade_formats());
  if (!options.feedback.empty()) {
    require_one_of("--feedback", options.feedback, {"full", "kind", "score"});
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  require_one_of("--sandbox", options.sandbox, {"auto", "namespaces", "confined", "limits"});
  options.passed_on.insert(options.passed_on.end(), {"--sandbox", options.sandbox});
  if (!options.require_sandbox.empty()) {
    require_one_of("--require-sandbox", options.require_sandbox,
                   {"namespaces", "confined", "limits"});
    options.passed_on.insert(options.passed_on.end(),
                             {"--require-sandbox", options.require_sandbox});
  }
  parse_class();
  if (!options.class_of.empty()) return run_grade_class(BuildFolder(global.build), options);
  if (options.submission.empty()) throw WrongUse("grade needs a file: ./halo grade FILE");
  return run_grade(BuildFolder(global.build), options);
}

int command_pack(const Global& global, int argc, const char* const* argv) {
  PackOptions options;
  CommandLine line(
      "Makes a copy of the course: a student's (student), an instructor's (instructor), or what a "
      "platform "
      "grades with (gradescope, prairielearn, autolab, github).",
      "A student's copy has no solutions, no hidden cases, no tests and no history. With --roster "
      "everybody gets "
      "one whose problems and data have a seed of their own: ./halo pack student copies/ --roster "
      "roster.csv");
  line.positional("what", options.what, "student, instructor or the platform's name");
  line.positional(
      "target", options.target,
      "a new folder, or a .zip, .tar.gz or .tar; for all of a roster the folder of their archives");
  line.option("--roster", "FILE.csv", options.roster, "student: who they are, in the column id");
  line.option("--student", "ID", options.student, "student: for this one only");
  line.option(
      "--seed", "N", options.seed,
      "student: the course's, from which everybody's is made; the assignment's, if left out");
  line.option("--assignment", "FILE", options.assignment,
              "what is handed in; solutions/assignment.json, if left out");
  line.option("--exercises", "NN,NN", options.exercises, "platforms: only these of the assignment");
  if (!line.parse(argc, argv)) return 0;
  require_one_of("pack", options.what,
                 {"student", "instructor", "gradescope", "prairielearn", "autolab", "github"});
  if (options.target.empty()) {
    throw WrongUse("pack needs a folder or an archive to write: ./halo pack " + options.what +
                   " FILE.zip");
  }
  if (options.what != "student" &&
      !(options.roster.empty() && options.student.empty() && options.seed.empty())) {
    throw WrongUse("--roster, --student and --seed are of students' copies: ./halo pack student");
  }
  if (!options.exercises.empty() && (options.what == "student" || options.what == "instructor")) {
    throw WrongUse("--exercises is of platforms' bundles: a copy has them all");
  }
  if (!options.seed.empty()) parse_number("--seed", options.seed, 0, 1'000'000'000'000'000'000);
  return run_pack(BuildFolder(global.build), options);
}

// A command about one exercise; `flag` is the only option that it has, if any.
struct AboutExercise {
  const char* description;
  const char* epilogue;
  const char* flag;
  const char* help;
};
int command_about(const Global& global, int argc, const char* const* argv,
                  const AboutExercise& about,
                  int (*command)(const BuildFolder&, const std::string&, bool)) {
  std::string exercise;
  bool flag = false;
  CommandLine line(about.description, about.epilogue);
  line.positional("exercise", exercise, "04, 4 or its name");
  if (about.flag != nullptr) line.flag(about.flag, flag, about.help);
  if (!line.parse(argc, argv)) return 0;
  if (exercise.empty()) throw WrongUse("which exercise? " + std::string(argv[0]) + " 04, say");
  return command(BuildFolder(global.build), exercise, flag);
}

int command_progress(const Global& global, int argc, const char* const* argv) {
  std::string color = "auto";
  CommandLine line("Says what you have passed, your points, and what is next.",
                   "All that is known is in exercises/progress.json.");
  line.option("--color", "WHEN", color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  require_one_of("--color", color, {"auto", "always", "never"});
  return run_progress(BuildFolder(global.build), color);
}

int command_docs(const Global& global, int argc, const char* const* argv) {
  bool no_open = false;
  CommandLine line("Builds the pages as a site, prints where it begins, and opens it.",
                   "Needs MkDocs and its theme Material (packages mkdocs and mkdocs-material).");
  line.flag("--no-open", no_open, "only build it");
  if (!line.parse(argc, argv)) return 0;
  return run_docs(BuildFolder(global.build), !no_open);
}

// A command without options of its own.
int simple_command(const Global& global, int argc, const char* const* argv, const char* description,
                   int (*command)(const BuildFolder&)) {
  CommandLine line(description, "");
  if (!line.parse(argc, argv)) return 0;
  return command(BuildFolder(global.build));
}

int run(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    // An unset variable in somebody's script, never a choice.
    if (word.empty() || (word.substr(0, 2) == "--" && word.back() == '=')) {
      const std::string_view before = argv[i - 1];
      const std::string name(word.empty() ? before : word.substr(0, word.size() - 1));
      throw WrongUse(name.starts_with("--") ? name + ": the value is empty"
                                            : "an argument is empty, behind '" + name + "'");
    }
  }
  Global global;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string word = argv[at];
    if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (word == "--version") {
      std::puts(HALO_VERSION);
      return 0;
    }
    if (word == "--build" && at + 1 < argc) {
      global.build = fs::absolute(argv[++at]);
    } else {
      throw WrongUse("unknown option " + word + " before the command (./halo --help)");
    }
  }
  if (at == argc) throw WrongUse(std::string("which command? ") + commands + " (./halo --help)");

  // The command's own arguments, under a name that fits its --help.
  const std::string command = argv[at];
  const std::string name = "./halo " + command;
  std::vector<const char*> words(argv + at, argv + argc);
  words[0] = name.c_str();
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  if (command == "help") {
    if (at + 1 == argc || std::string_view(argv[at + 1]) == "help") {
      std::fputs(usage, stdout);
      return 0;
    }
    char help[] = "--help";
    char* of[] = {argv[0], argv[at + 1], help, nullptr};
    return run(3, of);
  }
  if (command == "run") return command_run(global, count, words.data());
  if (command == "bench") return command_bench(global, count, words.data());
  if (command == "compare") return command_compare(count, words.data());
  if (command == "report") return command_report(count, words.data());
  if (command == "trace") return command_trace(global, count, words.data());
  if (command == "test") return command_test(global, count, words.data());
  if (command == "try") return command_try(global, count, words.data(), false);
  if (command == "watch") return command_try(global, count, words.data(), true);
  if (command == "debug") return command_debug(global, count, words.data());
  if (command == "hunt") return command_hunt(global, count, words.data());
  if (command == "hint") {
    return command_about(global, count, words.data(),
                         {"Shows the next hint of an exercise. Each is counted and costs nothing.",
                          "", "--all", "those that you have seen, once more"},
                         run_hint);
  }
  if (command == "show") {
    return command_about(
        global, count, words.data(),
        {"Shows the solution of an exercise that you have passed.",
         "Before you have passed it, ask twice; that is noted. What a kernel's lanes "
         "touch: ./halo trace.",
         "--beside", "how your file differs from it"},
        run_show);
  }
  if (command == "reset") {
    return command_about(global, count, words.data(),
                         {"Puts the file of an exercise back to where it began.",
                          "Yours is kept beside it as NAME.cu.1, .2 and so on.", nullptr, nullptr},
                         [](const BuildFolder& build, const std::string& name, bool) {
                           return run_reset(build, name);
                         });
  }
  if (command == "grade") return command_grade(global, count, words.data());
  if (command == "pack") return command_pack(global, count, words.data());
  if (command == "progress") return command_progress(global, count, words.data());
  if (command == "docs") return command_docs(global, count, words.data());
  if (command == "list") {
    return simple_command(global, count, words.data(), "Lists the stages and the exercises.",
                          list_stages);
  }
  if (command == "doctor") {
    return simple_command(global, count, words.data(),
                          "Says what is present, and what each missing thing costs.", run_doctor);
  }
  throw WrongUse("unknown command '" + command + "'" + data::did_you_mean(command, command_names) +
                 " (" + commands + "; see ./halo --help)");
}

// What went wrong is one line.
int run_or_complain(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const halo::data::NotWritten& error) {
    return complain(error.what(), kNotWritten);
  } catch (const halo::WrongUse& error) {
    return complain(error.what(), 2);
  } catch (const halo::UsageError& error) {
    return complain(error.what(), 2);
  } catch (const halo::CannotRun& error) {
    return complain(error.what(), 77);
  } catch (const halo::NoVerdict& error) {
    return complain(error.what(), 1);
  } catch (const halo::Interrupted& interrupted) {
    return complain("interrupted", 128 + interrupted.signal);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  halo::open_standard_streams();
  const int status = run_or_complain(argc, argv);
  const std::string lost = halo::lost_output();
  return lost.empty() ? status : complain(lost, halo::kNotWritten);
}
