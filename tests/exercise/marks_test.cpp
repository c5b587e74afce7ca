// The marks of an exercise's check on their way to the program that shows them.
#include "common/exercise/marks.hpp"

#include <limits>
#include <stdexcept>

#include "common/report/json.hpp"
#include "tests/catch.hpp"

using namespace halo;
using test::contains;

namespace {

Marks some_marks() {
  Marks marks;
  marks.exercise = "04_tile_and_halo";
  marks.backend = "sim";
  marks.seed = 18446744073709551615u;
  marks.questions = {{"cells_per_block", 264, 0, 264}, {"bytes_per_output", 9.25, 0.5, -1}};
  marks.cases = {
      {"mask 1", Category::correctness, 20, 20, Outcome::good, "", {}, 0.25},
      {"no hazards", Category::safety, 0, 30, Outcome::bad, "a race in sum += tile[t]", {}, 0.5},
      {"bytes per output",
       Category::budget,
       0,
       40,
       Outcome::not_run,
       "judged once it is correct",
       {{"bytes per output", 57, 9.5, 9.25, false, "exercises/04_tile_and_halo/x.cu", 31, 48},
        {"barriers", 1, 1, -1, true, "", 0, 0, {1000, 9, 256}}},
       0}};
  Row row;
  row.stage = "04_tile_and_halo";
  row.backend = "sim";
  row.variant = "yours";
  row.check.outcome = Outcome::bad;
  row.check.diagnosis.pattern = "every error is in the last output of a block";
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {{"race", "x.cu", 3, "x.cu", 4, {1, 0, 0}, {31, 0, 0}, "tile", 7, "Two."}};
  marks.faults = {row};
  return marks;
}

Marks heard(const Marks& marks) {
  Marks all;
  hear_marks(marks_head_line(marks), "test", all);
  for (const CaseMark& one : marks.cases) hear_marks(case_line(one), "test", all);
  for (const Row& row : marks.faults) hear_marks(fault_line(row), "test", all);
  return all;
}

std::string refusal(const std::string& line) {
  Marks marks;
  try {
    hear_marks(line, "check-04", marks);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("marks arrive as they were told") {
  const Marks marks = some_marks();
  const Marks again = heard(marks);
  CHECK(again.exercise == "04_tile_and_halo");
  CHECK(again.backend == "sim");
  CHECK(again.seed == marks.seed);
  REQUIRE(again.questions.size() == 2);
  CHECK(again.questions[0].key == "cells_per_block");
  CHECK(again.questions[0].answer == 264);
  CHECK(again.questions[0].counted == 264);
  CHECK(again.questions[1].tolerance == 0.5);
  CHECK(again.questions[1].counted == -1);
  REQUIRE(again.cases.size() == 3);
  CHECK(again.cases[0].name == "mask 1");
  CHECK(again.cases[0].seconds == 0.25);
  CHECK(again.cases[0].outcome == Outcome::good);
  CHECK(again.cases[1].category == Category::safety);
  CHECK(again.cases[1].message == "a race in sum += tile[t]");
  CHECK(again.cases[2].outcome == Outcome::not_run);
  REQUIRE(again.cases[2].budget.size() == 2);
  const BudgetLine& line = again.cases[2].budget[0];
  CHECK(line.what == "bytes per output");
  CHECK(line.counted == 57);
  CHECK(line.allowed == 9.5);
  CHECK(line.predicted == 9.25);
  CHECK_FALSE(line.met);
  CHECK(line.file == "exercises/04_tile_and_halo/x.cu");
  CHECK(line.line == 31);
  CHECK(line.of_line == 48);
  CHECK(again.cases[2].budget[1].met);
  CHECK(again.cases[2].budget[1].problem == std::vector<long long>{1000, 9, 256});
  CHECK(line.problem.empty());
  CHECK_FALSE(again.cases[0].hidden);
  CHECK(again.cases[2].budget[1].predicted == -1);
  REQUIRE(again.faults.size() == 1);
  CHECK(again.faults[0].hazards.findings == marks.faults[0].hazards.findings);
  CHECK(again.faults[0].check.diagnosis == marks.faults[0].check.diagnosis);
}

TEST_CASE("a hidden case arrives as one") {
  Marks marks = some_marks();
  marks.cases[0].hidden = true;
  CHECK(heard(marks).cases[0].hidden);
  CHECK_FALSE(heard(marks).cases[1].hidden);
}

TEST_CASE("a line is one line, whatever stands in it") {
  Marks marks = some_marks();
  marks.cases[0].message = "two\nlines and a bell\a";
  CHECK(case_line(marks.cases[0]).find('\n') == std::string::npos);
  CHECK(heard(marks).cases[0].message.find_first_of("\n\a") == std::string::npos);
}

TEST_CASE("points add up by category and in all") {
  const Marks marks = some_marks();
  CHECK(marks.points() == 20);
  CHECK(marks.most() == 90);
  CHECK(marks.points(Category::correctness) == 20);
  CHECK(marks.most(Category::safety) == 30);
  CHECK(marks.points(Category::budget) == 0);
}

TEST_CASE("until each budget is met no more than half of the points count") {
  Marks marks;
  marks.cases = {{"right", Category::correctness, 50, 50, Outcome::good, "", {}, 0},
                 {"safe", Category::safety, 20, 20, Outcome::good, "", {}, 0},
                 {"bytes", Category::budget, 0, 15, Outcome::bad, "", {}, 0},
                 {"conflicts", Category::budget, 5, 5, Outcome::good, "", {}, 0}};
  CHECK(marks.withheld() == 30);
  CHECK(marks.points() == 45);
  CHECK(marks.points(Category::correctness) == 50);
  // Not run is not met: nobody leaves out a case so that the budget is not judged.
  marks.cases[2].outcome = Outcome::not_run;
  CHECK(marks.points() == 45);
  marks.cases[0].points = 10;
  CHECK(marks.withheld() == 0);
  CHECK(marks.points() == 35);
  marks.cases[0].points = 50;
  marks.cases[2] = {"bytes", Category::budget, 15, 15, Outcome::good, "", {}, 0};
  CHECK(marks.withheld() == 0);
  CHECK(marks.points() == 90);
  // A hidden one counts as the others do.
  marks.cases.push_back({"hidden", Category::budget, 0, 10, Outcome::bad, "", {}, 0, true});
  CHECK(marks.points() == 50);
  marks.cases = {{"right", Category::correctness, 50, 50, Outcome::good, "", {}, 0}};
  CHECK(marks.points() == 50);
}

TEST_CASE("passed are all cases, and nothing is not passed") {
  Marks marks = some_marks();
  CHECK_FALSE(marks.passed());
  marks.cases[1].outcome = Outcome::good;
  CHECK_FALSE(marks.passed());  // the last was not run
  marks.cases[2].outcome = Outcome::good;
  CHECK(marks.passed());
  marks.cases.clear();
  CHECK_FALSE(marks.passed());
}

TEST_CASE("a head may come again and leaves the cases alone; progress is no part of the marks") {
  Marks marks = heard(some_marks());
  Marks later = some_marks();
  later.questions[1].counted = 9.5;
  hear_marks(marks_head_line(later), "test", marks);
  hear_marks(progress_line("shape 3 of 47"), "test", marks);
  CHECK(marks.questions.size() == 2);
  CHECK(marks.questions[1].counted == 9.5);
  CHECK(marks.cases.size() == 3);
}

TEST_CASE("what no check tells is one line that names the check") {
  const CaseMark good = {"a", Category::safety, 5, 10, Outcome::good, "", {}, 0};
  const auto with = [&](auto change) {
    CaseMark mark = good;
    change(mark);
    return refusal(case_line(mark));
  };
  CHECK(refusal(case_line(good)) == "taken");
  for (
      const std::string& said :
      {refusal(""), refusal("{"), refusal("[]"), refusal("{}"), refusal("null"),
       refusal(R"({"case": "a"})"), refusal(R"({"marks": 3})"), refusal(R"({"marks": "x"})"),
       with([](CaseMark& mark) { mark.points = 11; }),
       with([](CaseMark& mark) { mark.points = -1; }),
       with([](CaseMark& mark) { mark.points = std::numeric_limits<double>::quiet_NaN(); }),
       with([](CaseMark& mark) { mark.most = std::numeric_limits<double>::infinity(); }),
       refusal(
           R"({"case":"a","category":"style","points":1,"most":1,"outcome":"PASS","seconds":0})"),
       refusal(
           R"({"case":"a","category":"safety","points":1,"most":1,"outcome":"fine","seconds":0})")}) {
    CAPTURE(said);
    CHECK_THAT(said, contains("check-04"));
    CHECK(said.find('\n') == std::string::npos);
  }
  CHECK_THAT(refusal(R"({"marks": 3})"), contains("another version"));
}
