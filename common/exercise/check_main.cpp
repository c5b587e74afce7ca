// main() of the check of an exercise: whose program is checked, and what came of it, told line by line to
// whoever started the check (common/exercise/marks.hpp).
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
#include "common/exercise/check.hpp"
#include "common/json/json.hpp"
#include "common/report/row_stream.hpp"

namespace halo::exercises {

namespace {

RowStream teller(-1);

// The cases that were judged.
Marks judged;

// What `--contract` was.
std::string asked_contract;
std::string asked_backend = "sim";
// And `--within`.
std::vector<std::string> asked_within;
// And `--through`.
std::vector<std::string> asked_through;

CaseMark mark_of(const HiddenCase& hidden) {
  CaseMark mark;
  mark.name = hidden.name;
  if (hidden.is_budget) mark.category = Category::budget;
  mark.most = hidden.points;
  mark.hidden = true;
  return mark;
}

// Judges the case, tells it, and returns what came of it.
template <class Judge>
Outcome judge(CaseMark mark, const Judge& verdict_of) {
  const auto start = std::chrono::steady_clock::now();
  try {
    const Verdict verdict = verdict_of();
    mark.outcome = verdict.outcome;
    mark.message = verdict.message;
    mark.budget = verdict.budget;
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "%s: %s\n", mark.name.c_str(), error.what());
    mark.outcome = Outcome::bad;
    mark.message = "the check itself failed: run it by hand";
  }
  mark.points = mark.outcome == Outcome::good ? mark.most : 0;
  mark.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  teller.line(case_line(mark));
  judged.cases.push_back(mark);
  return mark.outcome;
}

// Judges the cases that are named, or all. The exit status: 0 good, 1 a case failed or none is named so, 77 nothing
// could be judged.
int run_cases(Examiner& examiner, const std::vector<CaseMark>& cases,
              const std::vector<std::string>& named) {
  int good = 0, bad = 0, left_out = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!named.empty() && std::find(named.begin(), named.end(), cases[i].name) == named.end()) {
      continue;
    }
    const Outcome outcome = judge(cases[i], [&] { return examiner.judge(i); });
    ++(outcome == Outcome::good ? good : outcome == Outcome::bad ? bad : left_out);
  }
  std::printf("cases: %d passed, %d failed, %d skipped\n", good, bad, left_out);
  return bad > 0 ? 1 : good > 0 ? 0 : left_out > 0 ? 77 : 1;
}

// Judges what students do not have; false if one of the cases is not right.
bool run_hidden(Examiner& examiner, const std::vector<HiddenCase>& cases) {
  bool good = true;
  for (const HiddenCase& hidden : cases) {
    good = judge(mark_of(hidden), [&] { return examiner.judge_hidden(hidden); }) == Outcome::good &&
           good;
  }
  return good;
}

// Tells what there is to be judged, and judges nothing.
int tell_description(Marks marks, const std::vector<HiddenCase>& hidden) {
  teller = RowStream::taken_from_starter();
  teller.line(marks_head_line(marks));
  for (const CaseMark& one : marks.cases) teller.line(case_line(one));
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

int run_once(Examiner& examiner, const std::string& problem) {
  std::vector<long long> numbers;
  if (problem != "usual") {
    std::istringstream words(problem);
    for (std::string word; std::getline(words, word, ',');) {
      char* end = nullptr;
      numbers.push_back(std::strtoll(word.c_str(), &end, 10));
      if (word.empty() || *end != 0) {
        std::fprintf(stderr, "--numbers: '%s' is not a list of numbers such as 1000,9,256\n",
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
  // Another program of the exercise, beside which this one is timed.
  const std::string beside = take(arguments, "--beside");
  const std::string on = take(arguments, "--on");
  if (!on.empty()) asked_backend = on;
  const std::string seed = take(arguments, "--seed");
  asked_contract = take(arguments, "--contract");
  // An assignment's file: its hidden cases of this exercise are judged behind the others.
  const std::string assignment = take(arguments, "--hidden");
  const bool only_describes = take_word(arguments, "--describe");
  // A JSON array: the words to put before the program.
  if (const std::string within = take(arguments, "--within"); !within.empty()) {
    asked_within = json::Value::parse(within).get<std::vector<std::string>>();
  }
  if (const std::string through = take(arguments, "--through"); !through.empty()) {
    asked_through = json::Value::parse(through).get<std::vector<std::string>>();
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
  asked.dap = take(arguments, "--dap") == "yes";
  // One problem is run and nothing judged: "1000,9,256", or "usual".
  const std::string traced = take(arguments, "--trace");
  // What is left names cases.
  const std::vector<std::string> named(arguments.begin() + 1, arguments.end());
  Marks marks;
  std::vector<HiddenCase> hidden;
  try {
    const Description description = describe();
    marks.exercise = description.exercise;
    marks.cases = description.cases;
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
    marks.backend = asked_backend;
    return tell_description(marks, hidden);
  }
  if (program.empty()) {
    std::fprintf(stderr, "%s: --program names what is checked; ./halo try does that\n", argv[0]);
    return 2;
  }
  marks.seed = std::strtoull(seed.c_str(), nullptr, 10);
  if (marks.seed == 0) marks.seed = std::random_device()() % 1'000'000'000u + 1;
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
    std::fprintf(stderr, "--on %s, but the program runs on %s\n", on.c_str(),
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
  int status = run_cases(*running, marks.cases, named);
  std::string time;
  try {
    time = running->time(beside);
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
  std::printf("points: %g of %g\n", judged.points(), judged.most());
  if (const std::string why = running->hindrance(); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return kMachineHindered;
  }
  return status;
}

}  // namespace

const std::string& contract_asked_for() { return asked_contract; }
const std::string& backend_asked_for() { return asked_backend; }
const std::vector<std::string>& sandbox_words() { return asked_within; }
const std::vector<std::string>& profiler_words() { return asked_through; }

}  // namespace halo::exercises

int main(int argc, char** argv) { return halo::exercises::run(argc, argv); }
