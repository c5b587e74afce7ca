// The instructor's file: what it says, and what is said of one that is wrong.
#include "common/grader/assignment.hpp"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "common/data/file.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::grader;
using test::contains;

namespace {

namespace fs = std::filesystem;

Assignment read(const std::string& text) {
  const fs::path file =
      fs::temp_directory_path() / ("assignment-" + std::to_string(getpid()) + ".json");
  data::write_file(file.string(), text);
  try {
    Assignment assignment = read_assignment(file);
    fs::remove(file);
    return assignment;
  } catch (const std::runtime_error& error) {
    fs::remove(file);
    CHECK_THAT(error.what(), contains(file.filename().string()));
    throw;
  }
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    CHECK(said.find('\n') == std::string::npos);
    return said;
  }
  return "taken";
}

std::string with_case(const std::string& hidden) {
  return R"({"exercises": [{"name": "04_x", "hidden": [)" + hidden + "]}]}";
}

}  // namespace

TEST_CASE("an assignment says what is handed in, with what, and what is told") {
  const Assignment assignment = read(R"({
    "title": "Week 3", "seed": 7, "feedback": "kind", "limits": {"seconds": 20, "memory": 512},
    "exercises": [{"name": "04_x", "hidden": [
      {"name": "one tap", "points": 10, "problems": [[77, 1, 16], [9, 1, 1]], "draw": 2},
      {"name": "other sizes", "points": 5, "problems": [[7000, 9, 64]], "budget": true}]},
      {"name": "05_y"}],
    "hunts": [{"name": "07_softmax", "points": 10}]})");
  REQUIRE(assignment.hunts.size() == 1);
  CHECK(assignment.hunts[0].name == "07_softmax");
  CHECK(assignment.hunts[0].points == 10);
  CHECK(assignment.title == "Week 3");
  CHECK(assignment.seed == 7);
  CHECK(assignment.feedback == Feedback::kind);
  CHECK(assignment.limits.seconds == 20);
  CHECK(assignment.limits.memory == 512);
  CHECK(assignment.limits.threads == 0);
  REQUIRE(assignment.exercises.size() == 2);
  REQUIRE(assignment.find("04_x") != nullptr);
  REQUIRE(assignment.find("04_x")->hidden.size() == 2);
  CHECK(assignment.find("04_x")->hidden[1].is_budget);
  const HiddenCase& hidden = assignment.find("04_x")->hidden.front();
  CHECK(hidden.name == "one tap");
  CHECK(hidden.points == 10);
  CHECK(hidden.problems == std::vector<std::vector<long long>>{{77, 1, 16}, {9, 1, 1}});
  CHECK(hidden.drawn == 2);
  CHECK_FALSE(hidden.is_budget);
  CHECK(assignment.find("05_y")->hidden.empty());
  CHECK(assignment.find("06_z") == nullptr);
}

TEST_CASE("a fault of an assignment is one line that names it") {
  CHECK_THAT(refusal("{"), contains("it ends in the middle"));
  CHECK_THAT(refusal("{}"), contains("exercises"));
  CHECK_THAT(refusal(R"({"exercises": []})"), contains("no exercises"));
  CHECK_THAT(refusal(R"({"exercises": [{"name": "a"}, {"name": "a"}]})"),
             contains("'a' is there twice"));
  CHECK_THAT(refusal(R"({"feedback": "all", "exercises": [{"name": "a"}]})"),
             contains("is not one of full, kind, score"));
  CHECK_THAT(refusal(R"({"exercise": [], "exercises": [{"name": "a"}]})"),
             contains("unknown word 'exercise'"));
  CHECK_THAT(refusal(R"({"limits": {"memory": 0}, "exercises": [{"name": "a"}]})"),
             contains("\"memory\" is not above 0"));
  CHECK_THAT(refusal(R"({"exercises": [{"name": "a"}], "hunts": [{"name": "07_x"}]})"),
             contains("hunt '07_x': a member \"points\" expected"));
  CHECK_THAT(refusal(R"({"exercises": [{"name": "a"}], "hunts": [{"name": "07_x", "points": 0}]})"),
             contains("hunt '07_x': its points"));
  CHECK_THAT(refusal(R"({"exercises": [{"name": "a"}], "hunts": [{"name": "07_x", "points": 1},
                         {"name": "07_x", "points": 1}]})"),
             contains("hunt '07_x' is there twice"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 0, "draw": 1})")),
             contains("hidden case \"b\": its points are not above 0"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 1e9, "draw": 1})")),
             contains("hidden case \"b\": its points are not above 0 and at most 1000"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 5})")), contains("it has no problems"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 5, "draw": 1000})")),
             contains("\"draw\" is not 0 to 100"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 5, "draw": 1, "budget": true})")),
             contains("problems of a budget are not drawn"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 5, "draws": 1})")),
             contains("unknown word 'draws'"));
  CHECK_THAT(refusal(with_case(R"({"name": "b", "points": 5, "draw": 1},
                                  {"name": "b", "points": 5, "draw": 1})")),
             contains("two hidden cases are called \"b\""));
  CHECK_THROWS_AS(read_assignment("no/such/file.json"), std::runtime_error);
}

TEST_CASE("the hidden cases of one exercise are found in the file") {
  const fs::path file =
      fs::temp_directory_path() / ("hidden-" + std::to_string(getpid()) + ".json");
  data::write_file(file.string(), with_case(R"({"name": "b", "points": 5, "draw": 1})"));
  CHECK(read_hidden_cases(file, "04_x").size() == 1);
  CHECK_THROWS_AS(read_hidden_cases(file, "05_y"), std::runtime_error);
  fs::remove(file);
}
