// The screen of `halo try`: verdict, why, what next, within 80 columns and 24 lines.
#include "common/exercise/marks_text.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/folder.hpp"

using namespace halo;
using test::contains;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Marks good_marks() {
  Marks marks;
  marks.exercise = "04_tile_and_halo";
  marks.backend = "sim";
  marks.cases = {{"mask 1", Category::correctness, 20, 20, Outcome::good, "", {}, 0},
                 {"short signals", Category::correctness, 25, 25, Outcome::good, "", {}, 0},
                 {"no hazards", Category::safety, 15, 15, Outcome::good, "", {}, 0},
                 {"traffic",
                  Category::budget,
                  30,
                  30,
                  Outcome::good,
                  "",
                  {{"bytes per output", 9.25, 9.6, 9.25, true, "", 0, 0},
                   {"conflicts", 0, 0, 0, true, "", 0, 0}},
                  0}};
  return marks;
}

Marks wrong_marks() {
  Marks marks = good_marks();
  CaseMark& mark = marks.cases[1];
  mark.outcome = Outcome::bad;
  mark.points = 0;
  mark.message = "output[4] is 0.31, should be -1.07";
  marks.cases[2].outcome = Outcome::bad;
  marks.cases[2].points = 0;
  marks.cases[2].message = "uninitialised shared read";
  marks.cases[3].outcome = Outcome::not_run;
  marks.cases[3].points = 0;
  marks.cases[3].message = "judged once it is correct";
  Row row;
  row.stage = "04_tile_and_halo";
  row.backend = "sim";
  row.variant = "yours";
  row.source = "exercises/04_tile_and_halo/tile_and_halo.cu";
  row.check.outcome = Outcome::bad;
  row.check.diagnosis = {"length 5, mask 3, 32 threads",
                         "output[4]",
                         "0.31",
                         "-1.07",
                         "every error is in the last output of a block",
                         47,
                         41,
                         "right: mask 1 only",
                         ""};
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {{"uninitialized_shared_read",
                           "x.cu",
                           2,
                           "",
                           0,
                           {0, 0, 0},
                           {31, 0, 0},
                           "tile",
                           7,
                           "Thread 31 reads tile[33], which nobody wrote. Load the halo."}};
  marks.faults = {row};
  return marks;
}

MarksScreen a_screen() {
  MarksScreen screen;
  screen.title = "04  Tile and halo";
  screen.attempt = 3;
  screen.predictions = {{{"cells_a_block", 264, 0, 260}, 256, true},
                        {{"barriers", 1, 0, 1}, 1, true},
                        {{"bytes", 9.25, 0.1, -1}, {}, false}};
  screen.predictions_file = "predictions.txt";
  screen.notes = {"two written questions are still open in exercises/04_tile_and_halo/answers.md"};
  screen.next = "fix exercises/04_tile_and_halo/tile_and_halo.cu, then ./halo try 04";
  screen.all_of_it = "./halo try 04 --all";
  return screen;
}

}  // namespace

TEST_CASE("a failure: points, each category, the first failure in full, the others a line each") {
  const std::string text = render_marks(wrong_marks(), a_screen(), {.width = 80});
  CAPTURE(text);
  const std::vector<std::string> lines = lines_of(text);
  CHECK_THAT(lines[0], contains("04  Tile and halo") && contains("20 of 90 points, attempt 3"));
  CHECK(lines[0].size() == 80);
  CHECK_THAT(lines[1], contains("correct    FAIL     20 of 45    1 of 2 cases"));
  CHECK_THAT(lines[2], contains("safe       FAIL     0 of 15     0 of 1 case"));
  CHECK_THAT(lines[3], contains("budget     NOT RUN  0 of 30     judged once it is correct"));
  CHECK_THAT(lines[4], contains("predicted") && contains("1 of 3 right") && !contains("of 10"));
  CHECK_THAT(text, contains("\"cells a block\": you said 256, it is 264 (yours: 260)"));
  CHECK_THAT(text, contains("\"barriers\": you said 1, which is right\n"));
  CHECK_THAT(text, !contains("9.25"));  // not answered, so not revealed
  CHECK_THAT(text, contains("FAIL  short signals: output[4] is 0.31, should be -1.07"));
  CHECK_THAT(text, contains("every error is in the last output of a block"));
  CHECK_THAT(text, contains("also  no hazards: uninitialised shared read"));
  CHECK_THAT(text, contains("two written questions"));
  CHECK_THAT(lines.back(), contains("./halo try 04"));
  CHECK(lines.size() <= 22);
}

TEST_CASE("what a note says to do is told on a narrow terminal too") {
  MarksScreen screen = a_screen();
  screen.notes = {
      "exercises/04_tile_and_halo/predictions.txt:1: 'many' is no number: write 264, 1,024 or "
      "9.25"};
  const std::string text = render_marks(wrong_marks(), screen, {.width = 80});
  CHECK_THAT(text, contains("write 264,\n  1,024 or 9.25\n"));
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
}

TEST_CASE("a failure that has a row of its own is told by it, once") {
  Marks marks = wrong_marks();
  marks.faults.push_back(marks.faults[0]);
  marks.faults[1].variant = "short signals";
  marks.faults[1].check.diagnosis.pattern = "every error is beyond n";
  marks.faults[1].hazards = {};
  const std::string text = render_marks(marks, a_screen(), {.width = 80});
  CAPTURE(text);
  CHECK_THAT(text, contains("04 short signals  FAIL") && contains("every error is beyond n") &&
                       !contains("FAIL  short signals") && !contains("last output of a block"));
  // What is not safe is told by the row that has a finding.
  marks.cases[1].outcome = Outcome::good;
  CHECK_THAT(render_marks(marks, a_screen(), {.width = 80}),
             contains("FAIL  no hazards: uninitialised shared read") && contains("tile, 7 times"));
}

TEST_CASE(
    "where it is not safe is told, whatever the room, and only what is wrong with this case") {
  Marks marks = wrong_marks();
  marks.cases[1].outcome = Outcome::good;
  marks.faults[0].check = {};
  Hazard barrier = marks.faults[0].hazards.findings[0];
  barrier.kind = "missed_barrier";
  barrier.line = 35;
  barrier.message =
      "Thread 0 waits at this __syncthreads() at x.cu:35, for nobody. Lead all there.";
  marks.faults[0].hazards.findings.push_back(barrier);
  marks.cases[2].message = "Thread 0 waits at this __syncthreads(), for nobody. Lead all there.";
  MarksScreen screen = a_screen();
  screen.lines = 5;
  const std::string text = render_marks(marks, screen, {.width = 80});
  CAPTURE(text);
  CHECK_THAT(text, contains("FAIL  no hazards\n"));
  CHECK_THAT(text, contains("x.cu:35") && contains("try: Lead all there.") &&
                       !contains("Load the halo") && contains("... and 1 part more"));
}

TEST_CASE("cases that fail by the same words have the same cause") {
  Marks marks = wrong_marks();
  marks.faults.clear();
  marks.cases[0].outcome = Outcome::bad;
  marks.cases[0].message = "n 8, width 3: the program is gone";
  marks.cases[1].message = "n 64, width 5: the program is gone";
  const std::string text = render_marks(marks, a_screen(), {.width = 80});
  CAPTURE(text);
  CHECK_THAT(text, contains("also  1 case with the same cause\n") && !contains("n 64"));
}

TEST_CASE("a time is a heading of its own, without points") {
  MarksScreen screen = a_screen();
  CHECK_THAT(render_marks(good_marks(), screen, {.width = 80}), !contains("\n  time "));
  screen.time = "1.1 of the time of the course's kernel (1.08 to 1.12 in 5 turns) with 1,000 cells";
  const std::string text = render_marks(good_marks(), screen, {.width = 80});
  CHECK_THAT(text, contains("\n  time ") && contains("1.1 of the time of the course's kernel"));
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
  CHECK_THAT(text, contains("90 of 90 points"));
}

TEST_CASE("passed: what it cost, and what was not predicted is told") {
  MarksScreen screen = a_screen();
  screen.predictions[0].fresh = screen.predictions[1].fresh = false;
  const std::string text = render_marks(good_marks(), screen, {.width = 80});
  CAPTURE(text);
  CHECK_THAT(lines_of(text)[0], contains("PASSED  90 of 90 points, attempt 3"));
  CHECK_THAT(text, contains("bytes per output 9.25, at most 9.6\n") &&
                       contains("    conflicts 0, at most 0\n"));
  CHECK_THAT(text, contains("\"bytes\" is 9.25"));
  CHECK_THAT(text, contains("\"cells a block\": you said 256, it is 264"));
  CHECK_THAT(text, !contains("barriers"));
  CHECK_THAT(text, !contains("FAIL"));
}

TEST_CASE("what was said before is not told again while it is wrong") {
  MarksScreen screen = a_screen();
  screen.predictions[0].fresh = screen.predictions[1].fresh = false;
  CHECK_THAT(render_marks(wrong_marks(), screen, {.width = 80}), !contains("cells a block"));
}

TEST_CASE("nothing that ran is not passed") {
  CHECK_THAT(render_marks({}, a_screen(), {.width = 80}), !contains("PASSED"));
}

TEST_CASE("a budget that is not met shows the line that costs most") {
  const test::Folder folder;
  folder.write("x.cu", "a\nsum += input[i];\n");
  Marks marks = good_marks();
  marks.cases[3].outcome = Outcome::bad;
  marks.cases[3].points = 0;
  marks.cases[3].budget[0] = {"bytes per output", 57, 9.6, 9.25, false, "x.cu", 2, 48};
  const std::string text = render_marks(marks, a_screen(), {.width = 80, .source = folder.path()});
  CAPTURE(text);
  CHECK_THAT(text, contains("bytes per output: counted 57, at most 9.6, usual 9.25"));
  CHECK_THAT(text, contains("2 |   sum += input[i];  48 of it from this line"));
  CHECK_THAT(text, !contains("conflicts:"));
  CHECK_THAT(text, contains("withheld            -15         the budget is not met: at most 45"));
}

TEST_CASE("however much is wrong, it is one screen, and what is left out is counted") {
  Marks marks = wrong_marks();
  for (int i = 0; i < 20; ++i) {
    marks.cases.push_back(
        {"case " + std::to_string(i),
         Category::correctness,
         0,
         1,
         Outcome::bad,
         "a message that goes on and on, so that no line of 80 letters has room for it",
         {},
         0});
    marks.faults[0].hazards.findings.push_back(marks.faults[0].hazards.findings[0]);
  }
  const std::string text = render_marks(marks, a_screen(), {.width = 80});
  CAPTURE(text);
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines.size() <= 22);
  for (const std::string& line : lines) CHECK(line.size() <= 80);
  CHECK_THAT(text, contains("more (./halo try 04 --all)"));
  CHECK_THAT(text, contains("also  19 more cases (./halo try 04 --all)"));
  MarksScreen all = a_screen();
  all.lines = 0;
  const std::string whole = render_marks(marks, all, {.width = 80});
  CHECK_THAT(whole, contains("also  case 19: ") && !contains("--all"));
  // A very small terminal still learns the most important.
  all.lines = 5;
  CHECK_THAT(render_marks(marks, all, {.width = 40}), contains("FAIL  short signals"));
}

TEST_CASE("advice is told to its end or not at all") {
  Marks marks = wrong_marks();
  Row& row = marks.faults[0];
  row.variant = "short signals";
  Hazard hazard = row.hazards.findings[0];
  hazard.message = "Thread 31 reads tile[33], which nobody wrote. Load the halo";
  for (int i = 0; i < 40; ++i) hazard.message += " and once more";
  hazard.message += ", to the end.";
  row.hazards.findings.clear();
  for (int i = 0; i < 5; ++i) {
    row.hazards.findings.push_back(hazard);
    row.hazards.findings.back().line += i;
  }
  marks.cases[2].message = hazard.message;
  MarksScreen screen = a_screen();
  screen.lines = 22;
  const std::string text = render_marks(marks, screen, {.width = 80});
  CAPTURE(text);
  std::size_t begun = 0, ended = 0;
  for (std::size_t at = 0; (at = text.find("try:", at)) != text.npos; ++at) ++begun;
  for (std::size_t at = 0; (at = text.find("the end.", at)) != text.npos; ++at) ++ended;
  CHECK(begun == 1);
  CHECK(ended == begun);
  CHECK_THAT(text, contains("parts more (./halo try 04 --all)") && !contains("...\n"));
  CHECK_THAT(text, contains("also  1 case with the same cause"));
}

TEST_CASE("what the student prints is shown whole, and when all is right too") {
  Marks marks = wrong_marks();
  const Printed printed{"length 5, mask 3", {"s is 1", "s is 2", "s is 3"}, 3};
  marks.faults[0].printed = printed;
  MarksScreen screen = a_screen();
  screen.lines = 5;
  const std::string shown =
      "printed by the kernel with length 5, mask 3:\n  s is 1\n  s is 2\n  s is 3\n";
  CHECK_THAT(render_marks(marks, screen, {.width = 80}), contains(shown));
  Marks good = good_marks();
  good.faults.resize(1);
  good.faults[0].printed = printed;
  CHECK_THAT(render_marks(good, screen, {.width = 80}), contains(shown) && contains("PASSED"));
}

TEST_CASE("points are never more than they are") {
  CHECK(points_text(20, 90) == "20 of 90");
  CHECK(points_text(89.96, 90) == "89.9 of 90");
  CHECK(points_text(10.0 / 3, 10) == "3.3 of 10");
  CHECK(points_text(3 * (10.0 / 3), 10) == "10 of 10");
}
