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

// What the words say.
struct Words {
  std::string program, source, seed;
  std::string on;          // the backend; empty: whichever it is
  std::string beside;      // another program of the exercise, beside which this one is timed
  std::string assignment;  // a file: its hidden cases of this exercise are judged behind the others
  std::string traced;      // one problem is run and nothing judged: "1000,9,256", or "usual"
  bool only_describes = false;
  // A debugger's terminal instead of marks: the same program with debug information, and where to stop.
  DebugOptions debug;
  std::vector<std::string> cases;  // those that are judged; empty: all
};

Words asked_by(std::vector<char*> words) {
  Words asked;
  asked.program = take(words, "--program");
  asked.source = take(words, "--source");
  asked.beside = take(words, "--beside");
  asked.on = take(words, "--on");
  if (!asked.on.empty()) asked_backend = asked.on;
  asked.seed = take(words, "--seed");
  asked_contract = take(words, "--contract");
  asked.assignment = take(words, "--hidden");
  asked.only_describes = take_word(words, "--describe");
  // A JSON array: the words to put before the program.
  const auto list = [&](const char* name, std::vector<std::string>& to) {
    const std::string text = take(words, name);
    if (!text.empty()) to = json::Value::parse(text).get<std::vector<std::string>>();
  };
  list("--within", asked_within);
  list("--through", asked_through);
  const auto number = [&](const char* name) -> std::optional<std::int64_t> {
    const std::string text = take(words, name);
    if (text.empty()) return {};
    return std::strtoll(text.c_str(), nullptr, 10);
  };
  asked.debug.program = take(words, "--debug");
  asked.debug.file = take(words, "--file");
  asked.debug.block = number("--block");
  asked.debug.thread = number("--thread");
  asked.debug.line = static_cast<int>(number("--line").value_or(0));
  asked.debug.batch = take(words, "--batch") == "yes";
  asked.debug.dap = take(words, "--dap") == "yes";
  asked.traced = take(words, "--trace");
  asked.cases.assign(words.begin() + 1, words.end());
  return asked;
}

// Throws std::runtime_error for a case that no program could be given.
std::vector<HiddenCase> hidden_of(const std::string& assignment, const std::string& exercise) {
  if (assignment.empty()) return {};
  std::vector<HiddenCase> hidden = read_hidden_cases(assignment, exercise);
  for (const HiddenCase& one : hidden) {
    try {
      require_possible(one);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(assignment + ": hidden case \"" + one.name + "\": " + error.what());
    }
  }
  return hidden;
}

// Nothing is judged: why, and the exit status.
struct End {
  std::string words;
  int status;
};

// Throws End.
std::unique_ptr<Examiner> examiner_of(const Words& asked, std::uint64_t seed) {
  if (asked.program.empty()) {
    throw End{"--program names what is checked; ./halo try does that", 2};
  }
  std::unique_ptr<Examiner> examiner;
  try {
    examiner = make_examiner(asked.program, asked.source, seed);
  } catch (const Hindered& error) {
    throw End{error.what(), kMachineHindered};
  } catch (const data::NotWritten& error) {
    throw End{error.what(), kMachineHindered};
  } catch (const std::exception& error) {
    throw End{error.what(), kNotJudgeable};
  }
  if (!asked.on.empty() && asked.on != examiner->backend()) {
    throw End{"--on " + asked.on + ", but the program runs on " + examiner->backend(), 2};
  }
  const std::string reason = examiner->unavailable();
  if (!reason.empty()) throw End{"NOT RUN: " + reason, 77};
  return examiner;
}

int judge_all(Examiner& examiner, Marks& marks, const std::vector<HiddenCase>& hidden,
              const Words& asked) {
  teller = RowStream::taken_from_starter();
  teller.line(marks_head_line(marks));
  int status = run_cases(examiner, marks.cases, asked.cases);
  std::string time;
  try {
    time = examiner.time(asked.beside);
  } catch (const std::runtime_error& error) {
    // It is for people, and has no points.
    std::fprintf(stderr, "not timed: %s\n", error.what());
  }
  if (!time.empty()) std::printf("time: %s\n", time.c_str());
  for (const Row& row : examiner.faults()) teller.line(fault_line(row));
  marks.questions = examiner.questions();
  teller.line(marks_head_line(marks));
  // Last: a program cannot keep what it saw here for anything that is told in its own words.
  try {
    if (!run_hidden(examiner, hidden) && status == 0) status = 1;
  } catch (const std::runtime_error& error) {
    throw End{error.what(), 2};
  }
  std::printf("points: %g of %g\n", judged.points(), judged.most());
  const std::string why = examiner.hindrance();
  if (!why.empty()) throw End{why, kMachineHindered};
  return status;
}

int run(const Words& asked) {
  Marks marks;
  std::vector<HiddenCase> hidden;
  try {
    const Description description = describe();
    marks.exercise = description.exercise;
    marks.cases = description.cases;
    marks.questions = description.questions;
    marks.on_the_host = description.on_the_host;
    hidden = hidden_of(asked.assignment, marks.exercise);
  } catch (const std::runtime_error& error) {
    throw End{error.what(), 2};
  }
  if (asked.only_describes) {
    marks.backend = asked_backend;
    return tell_description(marks, hidden);
  }
  marks.seed = std::strtoull(asked.seed.c_str(), nullptr, 10);
  if (marks.seed == 0) marks.seed = std::random_device()() % 1'000'000'000u + 1;
  const std::unique_ptr<Examiner> examiner = examiner_of(asked, marks.seed);
  marks.backend = examiner->backend();
  if (!asked.debug.program.empty()) return examiner->debug(asked.debug);
  if (!asked.traced.empty()) return run_once(*examiner, asked.traced);
  return judge_all(*examiner, marks, hidden, asked);
}

}  // namespace

const std::string& contract_asked_for() { return asked_contract; }
const std::string& backend_asked_for() { return asked_backend; }
const std::vector<std::string>& sandbox_words() { return asked_within; }
const std::vector<std::string>& profiler_words() { return asked_through; }

}  // namespace halo::exercises

int main(int argc, char** argv) {
  using namespace halo::exercises;
  try {
    return run(asked_by({argv, argv + argc}));
  } catch (const End& end) {
    std::fprintf(stderr, "%s\n", end.words.c_str());
    return end.status;
  }
}
