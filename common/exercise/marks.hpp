// What came of the check of an exercise: its cases with their points, and what was asked before the first
// run. The check tells it line by line while it runs; `halo try` shows it, `halo grade` adds it up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/rows.hpp"

namespace halo {

/// What a case is about. A student may be right and slow, or safe and wrong: each earns its own points.
enum class Category { correctness, safety, budget };
const char* to_string(Category category);

/// Of all points of a check's cases so many count until each of its budgets is met: what is correct and safe without
/// what the exercise is about is worth half of it.
inline constexpr double kShareWithoutBudget = 0.5;

/// A figure that a budget limits: "bytes per output", predicted 9.25, counted 57, allowed 9.5.
struct BudgetLine {
  std::string what;
  double counted = 0;
  double allowed = 0;
  double predicted = -1;  // by the page, of the usual solution; negative: not told
  bool met = false;
  std::string file;  // the line that costs most of it; empty: none does
  int line = 0;
  double of_line = 0;  // its part of the count
  std::vector<long long> problem =
      {};  // that it was counted with, as the exercise's function takes it
};

/// How a check ends that is no verdict, and says why on its last line: the machine hindered it, whatever cases it has told; or
/// the program cannot be judged, by its own fault.
inline constexpr int kMachineHindered = 74;
inline constexpr int kNotJudgeable = 3;

/// One case of a check.
struct CaseMark {
  std::string name;  // "blocks whose halo is wider than they are"
  Category category = Category::correctness;
  double points = 0;  // earned
  double most = 0;
  Outcome outcome = Outcome::not_run;
  std::string message;             // one line; empty where it is good
  std::vector<BudgetLine> budget;  // of a budget
  double seconds = 0;
  bool hidden = false;  // one that students do not have: its message names no input
};

/// A question that was to be answered before the first run.
struct Question {
  std::string key;       // as predictions.txt has it
  double answer = 0;     // what is true of the task
  double tolerance = 0;  // answers up to this far off are right
  double counted = -1;   // on the student's own kernel; negative: it was not run, or is not counted
};

/// The whole check.
struct Marks {
  std::string exercise;  // 04_tile_and_halo
  std::string backend;   // sim, gpu or cpu
  std::uint64_t seed = 0;
  std::vector<CaseMark> cases;
  std::vector<Question> questions;
  bool on_the_host = false;  // it asks for no kernel
  /// What the cases that failed have to say, as a run says it: hazards with their lines, numbers with their
  /// place. And those that printed something.
  std::vector<Row> faults;

  /// Of the cases of this category, as they were earned.
  double points(Category category) const;
  double most(Category category) const;
  /// Of all cases: what they earned, less what is withheld.
  double points() const;
  double most() const;
  /// What is beyond kShareWithoutBudget while a budget is not met; 0 where all are.
  double withheld() const;
  bool passed() const;  // all its cases, and there are some
};

/// What a check tells while it runs, each on a line of JSON without its end. (It may also tell what it is
/// doing: progress_line of json.hpp.)
std::string marks_head_line(const Marks& marks);  // what stands before the cases
std::string case_line(const CaseMark& mark);
std::string fault_line(const Row& row);
/// Adds to the marks what the line says; a head may come again, with more questions counted. Throws std::runtime_error: one line that names `origin`.
void hear_marks(const std::string& line, const std::string& origin, Marks& marks);

}  // namespace halo
