// main() of the check of an exercise: whose program is checked, and what came of it, told line by line to
// whoever started the check (common/report/marks.hpp).
// Catch2 2 hides its listeners otherwise.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "tests/exercises/check.hpp"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/data/file.hpp"
#include "common/exercise/debug.hpp"
#include "common/json/json.hpp"
#include "common/report/row_stream.hpp"

namespace halo::exercises {

namespace {

RowStream teller(-1);

// The case that runs, and what became of it.
CaseMark current;

// What `--contract` was.
std::string asked_contract;
// And `--within`.
std::vector<std::string> asked_within;

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
std::vector<std::string> tags_of(const Catch::TestCaseInfo& info) {
  std::vector<std::string> tags;
  for (const Catch::Tag& tag : info.tags)
    tags.emplace_back(tag.original.begin(), tag.original.end());
  return tags;
}
const Catch::TestCaseInfo& info_of(const Catch::TestCaseHandle& one) {
  return one.getTestCaseInfo();
}
#else
using ListenerBase = Catch::TestEventListenerBase;
std::vector<std::string> tags_of(const Catch::TestCaseInfo& info) { return info.tags; }
const Catch::TestCaseInfo& info_of(const Catch::TestCase& one) { return one; }
#endif

// A case that nobody has run yet.
CaseMark mark_of(const Catch::TestCaseInfo& info) {
  CaseMark mark;
  mark.name = info.name;
  for (const std::string& tag : tags_of(info)) {
    if (tag.starts_with("points=")) mark.most = std::atof(tag.c_str() + std::strlen("points="));
    for (const Category category : {Category::correctness, Category::safety, Category::budget}) {
      if (tag == to_string(category)) mark.category = category;
    }
  }
  return mark;
}
CaseMark mark_of(const HiddenCase& hidden) {
  CaseMark mark;
  mark.name = hidden.name;
  mark.most = hidden.points;
  mark.hidden = true;
  return mark;
}

class Teller : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    current = mark_of(info);
    start_ = std::chrono::steady_clock::now();
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    current.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    // What is left out looks like a failure to Catch2 2.
    const bool is_left_out = current.outcome == Outcome::not_run && !current.message.empty();
    if (stats.totals.testCases.failed > 0 && current.outcome != Outcome::bad && !is_left_out) {
      current.outcome = Outcome::bad;
      if (current.message.empty()) current.message = "the check itself failed: run it by hand";
    }
    current.points = current.outcome == Outcome::good ? current.most : 0;
    teller.line(case_line(current));
  }

 private:
  std::chrono::steady_clock::time_point start_;
};
CATCH_REGISTER_LISTENER(Teller)

// Judges what students do not have; false if one of the cases is not right.
bool run_hidden(Examiner& examiner, const std::vector<HiddenCase>& cases) {
  bool good = true;
  for (const HiddenCase& hidden : cases) {
    CaseMark mark = mark_of(hidden);
    const auto start = std::chrono::steady_clock::now();
    const Verdict verdict = examiner.right_hidden(hidden);
    mark.outcome = verdict.outcome;
    mark.message = verdict.message;
    mark.points = mark.outcome == Outcome::good ? mark.most : 0;
    mark.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    good = good && mark.outcome == Outcome::good;
    teller.line(case_line(mark));
  }
  return good;
}

// Tells what there is to be judged, and judges nothing.
int tell_description(Marks marks, const std::vector<HiddenCase>& hidden) {
  teller = RowStream::taken_from_starter();
  teller.line(marks_head_line(marks));
  for (const auto& one : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    teller.line(case_line(mark_of(info_of(one))));
  }
  for (const HiddenCase& one : hidden) teller.line(case_line(mark_of(one)));
  return 0;
}

// Takes `--name` out of the arguments; whether it was there.
bool take_word(std::vector<char*>& arguments, const char* name) {
  const auto at = std::find_if(arguments.begin(), arguments.end(),
                               [&](const char* word) { return std::strcmp(word, name) == 0; });
  if (at == arguments.end()) return false;
  arguments.erase(at);
  return true;
}

// Takes `--name VALUE` out of the arguments; empty if it is not there.
std::string take(std::vector<char*>& arguments, const char* name) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::strcmp(arguments[i], name) != 0) continue;
    const std::string value = arguments[i + 1];
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(at, at + 2);
    return value;
  }
  return {};
}

bool only_lists(const std::vector<char*>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const char* word) {
    return std::strncmp(word, "--list", 6) == 0 || std::strcmp(word, "--help") == 0;
  });
}

int run_once(Examiner& examiner, const std::string& problem) {
  std::vector<long long> numbers;
  if (problem != "usual") {
    std::istringstream words(problem);
    for (std::string word; std::getline(words, word, ',');) {
      char* end = nullptr;
      numbers.push_back(std::strtoll(word.c_str(), &end, 10));
      if (word.empty() || *end != 0) {
        std::fprintf(stderr, "--numbers: '%s' is no list of numbers such as 1000,9,256\n",
                     problem.c_str());
        return 2;
      }
    }
  }
  try {
    return examiner.run_once(numbers);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

int run(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const std::string program = take(arguments, "--program");
  const std::string source = take(arguments, "--source");
  const std::string on = take(arguments, "--on");
  const std::string seed = take(arguments, "--seed");
  asked_contract = take(arguments, "--contract");
  // An assignment's file: its hidden cases of this exercise are judged behind the others.
  const std::string assignment = take(arguments, "--hidden");
  const bool only_describes = take_word(arguments, "--describe");
  // A JSON array: the words to put before the program.
  if (const std::string within = take(arguments, "--within"); !within.empty()) {
    asked_within = json::Value::parse(within).get<std::vector<std::string>>();
  }
  // A debugger's terminal instead of marks: the same program with debug information, and where to stop.
  DebugOptions asked;
  asked.program = take(arguments, "--debug");
  asked.file = take(arguments, "--file");
  const auto number = [&](const char* name) -> std::optional<std::int64_t> {
    const std::string text = take(arguments, name);
    if (text.empty()) return {};
    return std::strtoll(text.c_str(), nullptr, 10);
  };
  asked.block = number("--block");
  asked.thread = number("--thread");
  asked.line = static_cast<int>(number("--line").value_or(0));
  asked.batch = take(arguments, "--batch") == "yes";
  // One problem is run and nothing judged: "1000,9,256", or "usual".
  const std::string traced = take(arguments, "--trace");
  const auto run_cases = [&] {
    return test::run_cases(static_cast<int>(arguments.size()), arguments.data());
  };
  if (only_lists(arguments)) return run_cases();
  Marks marks;
  std::vector<HiddenCase> hidden;
  try {
    const Description description = describe();
    marks.exercise = description.exercise;
    marks.questions = description.questions;
    if (!assignment.empty()) hidden = read_hidden_cases(assignment, marks.exercise);
    for (const HiddenCase& one : hidden) {
      try {
        require_possible(one);
      } catch (const std::runtime_error& error) {
        throw std::runtime_error(assignment + ": hidden case \"" + one.name +
                                 "\": " + error.what());
      }
    }
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  if (only_describes) {
    marks.backend = on.empty() ? "sim" : on;
    return tell_description(marks, hidden);
  }
  if (program.empty()) {
    std::fprintf(stderr, "%s: --program names what is checked; ./halo try does that\n", argv[0]);
    return 2;
  }
  // The seed of the data is Catch2's, so that one number repeats the run.
  if (!seed.empty()) setenv("HALO_SEED", seed.c_str(), 1);
  if (std::getenv("HALO_SEED") == nullptr) {
    setenv("HALO_SEED", std::to_string(std::random_device()() % 1'000'000'000u + 1).c_str(), 1);
  }
  marks.seed = std::strtoull(std::getenv("HALO_SEED"), nullptr, 10);
  std::unique_ptr<Examiner> running;
  try {
    running = make_examiner(program, source, marks.seed);
  } catch (const Hindered& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kMachineHindered;
  } catch (const data::NotWritten& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kMachineHindered;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kNotJudgeable;
  }
  marks.backend = running->backend();
  if (!on.empty() && on != marks.backend) {
    std::fprintf(stderr, "--on %s, but the program was made for %s\n", on.c_str(),
                 marks.backend.c_str());
    return 2;
  }
  if (const std::string reason = running->unavailable(); !reason.empty()) {
    std::fprintf(stderr, "NOT RUN: %s\n", reason.c_str());
    return 77;
  }
  if (!asked.program.empty()) return running->debug(asked);
  if (!traced.empty()) return run_once(*running, traced);
  teller = RowStream::taken_from_starter();
  teller.line(marks_head_line(marks));
  int status = run_cases();
  std::string time;
  try {
    time = running->time();
  } catch (const std::runtime_error& error) {
    // It is for people, and has no points.
    std::fprintf(stderr, "not timed: %s\n", error.what());
  }
  if (!time.empty()) std::printf("time: %s\n", time.c_str());
  for (const Row& row : running->faults()) teller.line(fault_line(row));
  marks.questions = running->questions();
  teller.line(marks_head_line(marks));
  // Last: a program cannot keep what it saw here for anything that is told in its own words.
  try {
    if (!run_hidden(*running, hidden) && status == 0) status = 1;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  if (const std::string why = running->hindrance(); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return kMachineHindered;
  }
  return status;
}

}  // namespace

const std::string& contract_asked_for() { return asked_contract; }
const std::vector<std::string>& sandbox_words() { return asked_within; }

void require(const Verdict& verdict) {
  current.outcome = verdict.outcome;
  current.message = verdict.message;
  current.budget = verdict.budget;
  if (verdict.outcome == Outcome::not_run) test::skip(verdict.message);
  INFO(verdict.message);
  CHECK(verdict.outcome == Outcome::good);
}

}  // namespace halo::exercises

int main(int argc, char** argv) { return halo::exercises::run(argc, argv); }
