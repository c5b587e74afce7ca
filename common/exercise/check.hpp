// What the check of an exercise is written with: a contract, whose groups and cases are judged one after the other. An
// exercise that is a whole program has an examiner of its own instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/exercise/debug.hpp"
#include "common/exercise/hidden_cases.hpp"
#include "common/exercise/judge.hpp"

namespace halo::exercises {

/// What the exercise of this program asks for: the check's own.
const Contract& contract();

/// What `--contract` names, for a check that has several; empty without it.
const std::string& contract_asked_for();

/// What `--on` says; without it `sim`.
const std::string& backend_asked_for();

/// What `--within` says: the words of the sandbox that the program runs in; none: in no sandbox.
const std::vector<std::string>& sandbox_words();

/// What `--through` says: the words of a profiler, which come before the program's own; none: there is none.
const std::vector<std::string>& profiler_words();

/// What main() wants to know of a check.
class Examiner {
 public:
  virtual ~Examiner() = default;
  /// As Check has them.
  virtual std::string backend() const = 0;
  virtual std::string unavailable() const = 0;
  virtual std::vector<Question> questions() = 0;
  virtual std::vector<Row> faults() const = 0;
  virtual std::string time(const std::string& beside) = 0;
  /// Judges a case of the description, by its number there.
  virtual Verdict judge(std::size_t number) = 0;
  /// Why what was judged is no verdict: the machine hindered the program. Empty: nothing did.
  virtual std::string hindrance() const = 0;
  /// As Check::right_hidden, or Check::within_hidden of a budget.
  virtual Verdict judge_hidden(const HiddenCase& hidden) = 0;
  /// As debug() of debug.hpp.
  virtual int debug(const DebugOptions& options) = 0;
  /// Runs one problem, for a trace: its numbers, or none for Check::telling_problem. The exit status, as of
  /// debug; 77 for a program that has no such problems.
  virtual int run_once(const std::vector<long long>& numbers) = 0;
};

/// The examiner of this program: one with a Check under contract(), unless the exercise's check.cpp defines this
/// function itself. Throws std::runtime_error, one line.
std::unique_ptr<Examiner> make_examiner(const std::string& program, const std::string& source,
                                        std::uint64_t seed);

/// What is known without a program: the exercise, its cases, none of them judged, and what it asks. Defined beside
/// make_examiner.
struct Description {
  std::string exercise;
  std::vector<CaseMark> cases;
  std::vector<Question> questions;
  bool on_the_host = false;
};
Description describe();

/// The cases as marks, none of them judged.
template <class Judge>
std::vector<CaseMark> marks_of(const std::vector<Case<Judge>>& cases) {
  std::vector<CaseMark> marks;
  for (const Case<Judge>& one : cases) {
    CaseMark mark;
    mark.name = one.name;
    mark.category = one.category;
    mark.most = one.points;
    marks.push_back(mark);
  }
  return marks;
}

/// Throws std::runtime_error, one line, for a hidden case that no program could be given. Defined beside make_examiner.
void require_possible(const HiddenCase& hidden);

}  // namespace halo::exercises
