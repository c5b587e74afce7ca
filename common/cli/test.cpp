// `halo test`: lets Meson run the tests, then tells what came out, case by case.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "common/build/builder.hpp"
#include "common/build/gpu.hpp"
#include "common/cli/commands.hpp"
#include "common/data/suggestion.hpp"
#include "common/process/process.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// Of what takes long the build description lists a sample, NAME, and the whole, NAME-all, in this suite; here is
// also what has no sample.
constexpr const char* kOnlyWhole = "all";

bool is_only_whole(const TestProgram& test) {
  return std::find(test.suites.begin(), test.suites.end(), kOnlyWhole) != test.suites.end();
}

// Without the "-all" of a whole: "08_winograd-sim".
std::string sample_of(const TestProgram& test) {
  const std::string ending = std::string("-") + kOnlyWhole;
  if (!is_only_whole(test) || !test.name.ends_with(ending)) return test.name;
  return test.name.substr(0, test.name.size() - ending.size());
}

bool is_for(const TestProgram& test, const std::string& backend) {
  return sample_of(test).ends_with("-" + backend);
}

// Leaves the samples out of which the whole is there.
void drop_samples(std::vector<TestProgram>& tests) {
  std::set<std::string> samples;
  for (const TestProgram& test : tests) {
    if (sample_of(test) != test.name) samples.insert(sample_of(test));
  }
  std::erase_if(tests, [&](const TestProgram& test) { return samples.contains(test.name); });
}

// "left out: 8 test programs and parts of 3 others: ./halo test --all"
std::string left_out_line(const std::vector<TestProgram>& left_out) {
  std::size_t parts = 0;
  for (const TestProgram& test : left_out) parts += sample_of(test) != test.name ? 1 : 0;
  const std::size_t programs = left_out.size() - parts;
  const auto counted = [](std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  std::string text = "left out: ";
  if (programs > 0) text += counted(programs, "test program");
  if (parts > 0) {
    text += programs > 0 ? " and parts of " + counted(parts, "other")
                         : "parts of " + counted(parts, "test program");
  }
  return text + ": ./halo test --all";
}

// The status of a test program, or of a test written as a script, whose patience ended (tests/catch.hpp).
constexpr int kNoVerdict = 75;

bool gave_no_verdict(const TestResult& result) {
  return result.outcome == "TIMEOUT" || result.status == kNoVerdict;
}

// What one test program adds to the sum.
struct Cases {
  int passed = 0;
  int failed = 0;
  std::vector<std::string> skipped;  // "name: reason"
};

// What many were not run for is told once, with their number; the others as they are. A line is
// "program: case: reason", and each part may have colons of its own.
std::vector<std::string> by_reason(const std::vector<std::string>& skipped) {
  constexpr int kMany = 3;
  const auto endings_of = [](const std::string& line) {  // the longest first
    std::vector<std::string> endings;
    for (std::size_t at = line.find(": "); at != std::string::npos; at = line.find(": ", at + 1)) {
      endings.push_back(line.substr(at + 2));
    }
    return endings;
  };
  std::map<std::string, int> times;
  for (const std::string& line : skipped) {
    for (const std::string& ending : endings_of(line)) ++times[ending];
  }
  std::vector<std::string> told;
  std::set<std::string> known;
  for (const std::string& line : skipped) {
    const std::vector<std::string> endings = endings_of(line);
    const auto shared = std::max_element(
        endings.begin(), endings.end(),
        [&](const std::string& a, const std::string& b) { return times[a] < times[b]; });
    if (shared == endings.end() || times[*shared] < kMany) {
      told.push_back(line);
    } else if (known.insert(*shared).second) {
      told.push_back(std::to_string(times[*shared]) + " cases: " + *shared);
    }
  }
  return told;
}

// A Catch2 program counts its cases itself (tests/catch_main.cpp); another test is one case.
Cases count(const TestResult& result) {
  Cases cases;
  const bool good = result.outcome == "OK" || result.outcome == "EXPECTEDFAIL";
  const bool skipped = result.outcome == "SKIP";
  bool counted = false;
  int skips = 0;
  std::istringstream lines(result.out);
  const std::string not_run = "NOT RUN: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(not_run)) {
      cases.skipped.push_back(result.name + ": " + line.substr(not_run.size()));
    }
    int passed = 0, failed = 0, left_out = 0;
    if (std::sscanf(line.c_str(), "cases: %d passed, %d failed, %d skipped", &passed, &failed,
                    &left_out) == 3) {
      counted = true;
      cases.passed += passed;
      cases.failed += failed;
      skips += left_out;
    }
  }
  if (skipped && !counted && cases.skipped.empty()) {
    std::string reason = last_line(result.out + "\n" + result.err);
    cases.skipped.push_back(result.name + ": " + (reason.empty() ? "no reason given" : reason));
  }
  if (good && !counted) ++cases.passed;
  // A crash, or a program that says "failed" without a failed case.
  if (!good && !skipped && !gave_no_verdict(result) && cases.failed == 0) ++cases.failed;
  while (static_cast<int>(cases.skipped.size()) < skips) {
    cases.skipped.push_back(result.name + ": no reason given");
  }
  return cases;
}

// "exit status 1", "signal 11".
std::string outcome_of(const TestResult& result) {
  if (result.status < 0) return "ended by signal " + std::to_string(-result.status);
  // A shell reports the signal of its child this way.
  if (result.status > 128 && result.status < 160) {
    return "ended by signal " + std::to_string(result.status - 128);
  }
  return "exit status " + std::to_string(result.status);
}

// Whole if short, else the end: that is where the failure stands.
std::string tail_of(const std::string& text, const fs::path& log) {
  constexpr std::ptrdiff_t most = 200;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= most) return text;
  std::size_t at = 0;
  for (std::ptrdiff_t skip = lines - most; skip > 0; --skip) at = text.find('\n', at) + 1;
  return "(" + std::to_string(lines - most) + " lines before this: " + log.string() + ")\n" +
         text.substr(at);
}

void print_text(std::FILE* stream, const std::string& text) {
  if (text.empty()) return;
  std::fputs(text.c_str(), stream);
  if (text.back() != '\n') std::fputc('\n', stream);
}

// Meson prints " 3/12 halo:simt / name  OK  0.02s" as each test ends.
int finished_tests(const std::string& out) {
  int finished = 0;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    int number = 0, total = 0;
    if (std::sscanf(line.c_str(), " %d/%d ", &number, &total) == 2) ++finished;
  }
  return finished;
}

// Where no tests are named a sample is run: what only `--all` runs is taken out of `tests`, and returned.
std::vector<TestProgram> sampled(std::vector<TestProgram>& tests, const TestOptions& options) {
  if (options.all || !options.what.empty()) {
    drop_samples(tests);
    return {};
  }
  const auto rest = std::stable_partition(
      tests.begin(), tests.end(), [](const TestProgram& test) { return !is_only_whole(test); });
  const std::vector<TestProgram> left_out(rest, tests.end());
  tests.erase(rest, tests.end());
  return left_out;
}

// Without a GPU: minutes of nvcc, to be told by each that it was not run.
void drop_gpu_tests(std::vector<TestProgram>& tests, std::vector<TestProgram>& left_out,
                    Cases& sum) {
  const auto is_for_gpu = [](const TestProgram& test) { return is_for(test, "gpu"); };
  if (std::none_of(tests.begin(), tests.end(), is_for_gpu)) return;
  const Gpu gpu = find_gpu();
  if (gpu.found) return;
  std::erase_if(left_out, is_for_gpu);
  std::erase_if(tests, [&](const TestProgram& test) {
    if (!is_for_gpu(test)) return false;
    sum.skipped.push_back(test.name + ": " + gpu.reason + " (--on gpu still builds it)");
    return true;
  });
}

// Builds what the tests need. Those that do not compile are taken out of `tests`, and counted.
int build_tests(const BuildFolder& build, std::vector<TestProgram>& tests, Progress& progress) {
  std::vector<fs::path> files;
  for (const TestProgram& test : tests) {
    files.insert(files.end(), test.needs.begin(), test.needs.end());
  }
  const std::vector<fs::path> missing_files = build_all(build, files, "the tests", progress);
  return static_cast<int>(std::erase_if(tests, [&](const TestProgram& test) {
    const bool missing =
        std::any_of(test.needs.begin(), test.needs.end(), [&](const fs::path& need) {
          return std::find(missing_files.begin(), missing_files.end(), need) != missing_files.end();
        });
    if (missing) std::printf("FAIL %s: it does not compile\n", test.name.c_str());
    return missing;
  }));
}

// Counts a test's cases, and shows what it said if it failed or gave no verdict. Whether it gave one.
bool judge(const TestResult& result, const fs::path& log, bool color, Cases& sum) {
  const Cases cases = count(result);
  sum.passed += cases.passed;
  sum.failed += cases.failed;
  sum.skipped.insert(sum.skipped.end(), cases.skipped.begin(), cases.skipped.end());
  const bool has_verdict = !gave_no_verdict(result);
  if (has_verdict && cases.failed == 0) return true;
  if (has_verdict) {
    std::printf("%sFAIL%s %s (%s, %.1f s)\n", color ? "\033[31m" : "", color ? "\033[0m" : "",
                result.name.c_str(), outcome_of(result).c_str(), result.seconds);
  } else {
    std::printf("no verdict: %s %s %.0f s; the machine may be busy\n", result.name.c_str(),
                result.outcome == "TIMEOUT" ? "did not end within" : "waited too long, ended after",
                result.seconds);
  }
  print_text(stdout, tail_of(result.out, log));
  print_text(stdout, tail_of(result.err, log));
  std::printf("\n");
  return has_verdict;
}

}  // namespace

std::vector<TestProgram> choose_tests(const BuildFolder& build, const TestOptions& options) {
  const std::vector<TestProgram> all = build.tests();
  if (all.empty()) {
    // A student's copy lacks the program that grades.
    if (!build.makes(build.own_program("halo-grade"))) {
      throw CannotRun(
          "this is a student's copy of the course, which has no tests: ./halo try 04 judges an "
          "exercise, ./halo run 04 a stage");
    }
    throw std::runtime_error(
        "this build has no tests: they need Catch2 2.13.4+ or 3.3+ "
        "(Debian, Ubuntu: apt-get install catch2), then ./halo test");
  }
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() <= 2 &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  std::string stage = options.what;
  for (const std::string& one : build.stages()) {
    if (options.what == build.short_name(one)) stage = one;
  }
  if (is_number(stage)) stage = std::string(2 - stage.size(), '0') + stage + "_";

  std::vector<TestProgram> chosen;
  std::vector<std::string> suites;
  bool known = options.what.empty();
  for (const TestProgram& test : all) {
    for (const std::string& suite : test.suites) {
      if (std::find(suites.begin(), suites.end(), suite) == suites.end()) suites.push_back(suite);
    }
    const bool in_suite =
        std::find(test.suites.begin(), test.suites.end(), options.what) != test.suites.end();
    const bool named = test.name == options.what || test.name.starts_with(stage);
    if (!options.what.empty() && !in_suite && !named) continue;
    known = true;
    if (options.on == "sim" && is_for(test, "gpu")) continue;
    if (options.on == "gpu" && is_for(test, "sim")) continue;
    chosen.push_back(test);
  }
  if (!known) {
    std::sort(suites.begin(), suites.end());
    std::string names;
    for (const std::string& suite : suites) names += " " + suite;
    throw WrongUse("no test '" + options.what + "'" + data::did_you_mean(options.what, suites) +
                   " (the suites are" + names + "; a stage's number names its tests)");
  }
  if (chosen.empty()) {
    throw CannotRun("no test of '" + options.what + "' is built for --on " + options.on);
  }
  return chosen;
}

int run_tests(const BuildFolder& build, const TestOptions& options) {
  const bool color = use_color(options.color, stdout);
  std::vector<TestProgram> tests = choose_tests(build, options);
  std::vector<TestProgram> left_out = sampled(tests, options);
  Cases sum;
  if (options.on != "gpu") drop_gpu_tests(tests, left_out, sum);

  // A log of our own: the folder's own `meson test` keeps its last results.
  const std::string log = "halo-test";
  const fs::path json = build.path() / "meson-logs" / (log + ".json");
  std::error_code ignored;
  fs::remove(json, ignored);
  std::vector<std::string> command = {"meson",        "test",      "-C", build.path(),
                                      "--no-rebuild", "--logbase", log};
  Progress progress(Progress::Elsewhere::lines);
  const int uncompiled = build_tests(build, tests, progress);
  for (const TestProgram& test : tests) command.push_back(test.name);
  const std::string total = std::to_string(tests.size());
  Ended ended;
  if (!tests.empty()) {  // without names Meson would run all
    ended = run_program(command, [&](const std::string& out) {
      progress.show("testing: " + std::to_string(finished_tests(out)) + " of " + total +
                    " programs done");
    });
  }
  progress.clear();

  int without_verdict = 0;
  const std::vector<TestResult> results =
      tests.empty() ? std::vector<TestResult>{} : build.test_results(log);
  const fs::path text_log = build.path() / "meson-logs" / (log + ".txt");
  for (const TestResult& result : results) {
    if (!judge(result, text_log, color, sum)) ++without_verdict;
  }
  // A test that was started and left no result did not pass.
  if (results.size() < tests.size()) {
    const auto missing = tests.size() - results.size();
    sum.failed += static_cast<int>(missing);
    std::printf("FAIL %zu of %zu test programs left no result; Meson ended with %s\n", missing,
                tests.size(), how_it_ended(ended).c_str());
    print_text(stdout, ended.err);
  } else if (!tests.empty() && !ended.good() && sum.failed == 0 && without_verdict == 0) {
    sum.failed += 1;
    std::printf("FAIL Meson ended with %s although no test failed\n", how_it_ended(ended).c_str());
    print_text(stdout, ended.err);
  }
  if (!sum.skipped.empty()) {
    std::printf("NOT RUN: %zu\n", sum.skipped.size());
    for (const std::string& line : by_reason(sum.skipped)) std::printf("  %s\n", line.c_str());
  }
  if (!left_out.empty()) std::printf("%s\n", left_out_line(left_out).c_str());
  if (without_verdict > 0) std::printf("no verdict: %d\n", without_verdict);
  std::printf("%d passed, %d failed\n", sum.passed, sum.failed + uncompiled);
  if (sum.failed > 0 || without_verdict > 0) return 1;
  if (uncompiled > 0) return 2;
  if (sum.passed > 0) return 0;
  return sum.skipped.empty() ? 1 : 77;
}

}  // namespace halo
