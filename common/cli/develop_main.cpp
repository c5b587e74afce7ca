// The program for whoever changes a kernel: times, what results say, tests and pages.
#include <charconv>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "common/cli/commands.hpp"
#include "common/cli/passed_on.hpp"
#include "common/cli/program.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/report/command_line.hpp"

namespace {

using namespace halo;

constexpr const char* kFormats = "table, markdown or csv";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The families whose programs have a list of published problems, and go on where a file ends.
constexpr const char* kListed = "conv2d transform pooling softmax";

// 0 to 100, as a share.
double parse_percent(const std::string& option, const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 100)) {
    throw WrongUse(option + ": '" + text + "' is not a number from 0 to 100");
  }
  return value / 100;
}

int command_bench(const Global& global, int argc, const char* const* argv) {
  BenchOptions options;
  std::string format = "table";
  CommandLine line("Times all stages of a family beside its peers: on the CPU, then on the GPU.",
                   "Without other options: all published problems. Options of stages are handed to "
                   "the bench programs.");
  line.positional("family", options.family,
                  "conv1d, conv2d, transform, pooling, softmax or network; default: all");
  line.positional("set", options.set,
                  "of published problems; default: all. conv2d: " + bench_set_names("conv2d") +
                      "; transform: " + bench_set_names("transform") + "; pooling: " +
                      bench_set_names("pooling") + "; softmax: " + bench_set_names("softmax"));
  line.option("--on", "cpu|gpu", options.on, "only there; default: both");
  line.option("--json", "FILE", options.json, "also write the results to this file");
  line.option("--format", "FORMAT", format, kFormats);
  line.option("--color", "WHEN", options.color, "auto, always or never");
  line.flag("--resume", options.resume,
            std::string(kListed) + ": continue the --json file that an earlier run left");
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

int command_compare(const Global&, int argc, const char* const* argv) {
  CompareOptions options;
  std::string format = "table";
  std::string threshold;
  CommandLine line("Compares two results files: what became faster in B, and what slower.",
                   "A difference inside the spread of the measurement, or within the A/A spread, "
                   "is a tie.");
  line.positional("A.json", options.a, "the earlier results");
  line.positional("B.json", options.b, "the later ones");
  line.option("--format", "FORMAT", format, kFormats);
  line.flag("--fail-on-regression", options.fail_on_regression,
            "exit code 1 if any row is slower or fails its check");
  line.option("--threshold", "PERCENT", threshold, "differences up to this are ties; default: 0");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  if (options.b.empty()) throw WrongUse("compare needs two results files: A.json B.json");
  options.format = parse_format(format);
  if (!threshold.empty()) options.threshold = parse_percent("--threshold", threshold);
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_compare(options);
}

int command_report(const Global&, int argc, const char* const* argv) {
  ReportOptions options;
  std::string format = "table";
  std::string by;
  CommandLine line("Shows a results file, as `run` and `bench` write them with --json.", "");
  line.positional("FILE.json", options.file, "the results");
  line.positional("OTHER.json", options.beside, "with --html: another run, or machine, beside it");
  line.option("--html", "OUT.html", options.html,
              "a page of charts: ratios, bars against the roofs, roofline");
  line.option("--with", "FILE.json", options.with,
              "join these, such as a GPU's results and its CPU's");
  line.option("--format", "FORMAT", format, kFormats);
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
  if (!options.html.empty() && (options.summary || format != "table")) {
    throw WrongUse("--html has all of it: without --summary and --format");
  }
  if (!by.empty() && !options.summary) throw WrongUse("--by groups a --summary");
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
  line.flag("--all", options.all, "every test; run it before a change is finished");
  line.option("--on", "sim|gpu", options.on, "only the tests for the simulator, or for a GPU");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});

  return run_tests(BuildFolder(global.build), options);
}

int command_docs(const Global& global, int argc, const char* const* argv) {
  bool no_open = false;
  CommandLine line("Builds the pages as a site, prints its first page's path, and opens it.",
                   "Needs MkDocs and its theme Material (packages mkdocs and mkdocs-material).");
  line.flag("--no-open", no_open, "only build it");
  if (!line.parse(argc, argv)) return 0;
  return run_docs(BuildFolder(global.build), !no_open);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::run_command(argc, argv,
                           {
                               {"bench", command_bench},
                               {"compare", command_compare},
                               {"report", command_report},
                               {"test", command_test},
                               {"docs", command_docs},
                           });
}
