// `halo hunt`: a mistake is named by line and kind, mended, and told in the end; `halo debug`: what the check
// is asked for.
#include <filesystem>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kHunt = "one\ntwo\nthree\nWRONG\nfive\n";
constexpr const char* kMended = "one\ntwo\nthree\nRIGHT\nfive\n";

struct HuntFixture {
  HuntFixture() {
    const fs::path exercises = course.root() / "exercises/hunts";
    const fs::path solutions = course.root() / "solutions/hunts";
    file = exercises / "07_softmax.cu";
    write_text(exercises / "hunts.json",
               R"({"kinds": {"race": "two threads", "guard": "an if"}, "hunts": [
                   {"name": "07_softmax", "contract": "softmax", "symptom": "Rows are nan."},
                   {"name": "08_sum", "contract": "sum", "symptom": "Too small."}]})");
    write_text(file, kHunt);
    write_text(exercises / "start/07_softmax.cu", kHunt);
    write_text(exercises / "start/08_sum.cu", kHunt);
    write_text(solutions / "07_softmax.cu", kMended);
    write_text(solutions / "answers.json",
               R"([{"name": "07_softmax", "kind": "race", "found_by": "race",
                    "why": "Two threads meet.", "source": "a listing"}])");
    Marks right = right_marks("softmax"), wrong = wrong_marks("softmax");
    course.set_check("hunts", "if grep -q RIGHT \"$2\"; then\n  cat '" +
                                  course.told("hunt-right", right).string() +
                                  "' >&3; exit 0\nelse\n  cat '" +
                                  course.told("hunt-wrong", wrong).string() + "' >&3; exit 1\nfi");
  }
  json::Value record() const {
    return json::Value::parse(read_file(course.progress())).at("exercises").at("hunts/07_softmax");
  }

  FakeCourse course;
  fs::path file;
};

}  // namespace

TEST_CASE_METHOD(HuntFixture, "hunt: all are listed with how they stand") {
  const Ended ended = course.halo({"hunt"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out,
             contains("07  softmax") && contains("08  sum") && contains("0 of 2 hunts are over"));
  CHECK_THAT(course.halo({"hunt", "--kinds"}).out, contains("race     two threads"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: one shows its file, what its user says and the kinds") {
  const Ended ended = course.halo({"hunt", "7"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("exercises/hunts/07_softmax.cu") &&
                            contains("its user says: Rows are nan.") &&
                            contains("kinds: race, guard"));
  CHECK(ended.err.empty());
  CHECK(!fs::exists(course.progress()));
}

TEST_CASE_METHOD(HuntFixture, "hunt: its file is made when it is asked for, once") {
  CHECK(course.halo({"hunt", "8"}).err == "made for you to edit: exercises/hunts/08_sum.cu\n");
  CHECK(read_file(file.parent_path() / "08_sum.cu") == kHunt);
  CHECK(course.halo({"hunt", "8"}).err.empty());
}

TEST_CASE_METHOD(HuntFixture,
                 "hunt: line and kind are judged apart, and kept when they are right") {
  const Ended wrong = course.halo({"hunt", "07", "--line", "2", "--kind", "guard"});
  CHECK(wrong.status == 1);
  CHECK(wrong.out == "line 2: no\nguard: no\n");
  // The line behind the one that is replaced is none.
  CHECK(course.halo({"hunt", "07", "--line", "5"}).out == "line 5: no\n");
  const Ended half = course.halo({"hunt", "softmax", "--line", "4", "--kind", "guard"});
  CHECK(half.status == 1);
  CHECK(half.out == "line 4: yes\nguard: no\n");
  const Ended right = course.halo({"hunt", "07_softmax", "--kind", "race"});
  CHECK(right.status == 0);
  CHECK_THAT(right.out, contains("race: yes") && contains("found by the simulator: race") &&
                            contains("Two threads meet.") && contains("from: a listing") &&
                            contains("next: mend exercises/hunts/07_softmax.cu"));
  CHECK(record().get<int>("claims") == 4);
  CHECK(record().get<bool>("named_line"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: of a line that is missing both neighbours are right") {
  write_text(course.root() / "solutions/hunts/07_softmax.cu",
             "one\ntwo\nNEW\nthree\nWRONG\nfive\n");
  for (const auto& [line, is] :
       {std::pair("1", "no"), std::pair("2", "yes"), std::pair("3", "yes"), std::pair("4", "no")}) {
    CHECK(course.halo({"hunt", "07", "--line", line}).out ==
          std::string("line ") + line + ": " + is + "\n");
  }
}

TEST_CASE_METHOD(HuntFixture, "hunt: a changed file is judged by the contract of its kernel") {
  write_text(file, std::string(kHunt) + "six\n");
  const Ended wrong = course.halo({"hunt", "07"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, contains("not mended yet") && contains("FAIL  short signals"));
  CHECK_THAT(course.check_words(), contains("--contract softmax"));
  write_text(file, kMended);
  const Ended right = course.halo({"hunt", "07"});
  CHECK(right.status == 0);
  CHECK_THAT(right.out, contains("mended; which line was it") && contains("Two threads meet."));
  CHECK(!record().get<std::string>("passed").empty());
  course.halo({"hunt", "07", "--line", "4", "--kind", "race"});
  CHECK_THAT(course.halo({"hunt"}).out,
             contains("named, mended") && contains("1 of 2 hunts are over"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: wrong use is one line") {
  const auto said = [&](const std::vector<std::string>& words) {
    const Ended ended = course.halo(words);
    CHECK(ended.status == 2);
    CHECK(lines_of(ended.err).size() == 1);
    return ended.err;
  };
  CHECK_THAT(said({"hunt", "softmx"}), contains("did you mean softmax"));
  CHECK_THAT(said({"hunt", "07", "--kind", "rase"}), contains("did you mean race"));
  CHECK_THAT(said({"hunt", "--line", "3"}), contains("which hunt?"));
  CHECK_THAT(said({"hunt", "07", "--line", "0"}), contains("--line"));
  write_text(file, "BROKEN\n");
  CHECK_THAT(course.halo({"hunt", "07"}).err, contains("does not compile"));
  write_text(course.root() / "exercises/hunts/hunts.json", "{");
  CHECK_THAT(said({"hunt"}), contains("hunts.json cannot be read"));
  fs::remove_all(course.root() / "exercises/hunts");
  CHECK_THAT(said({"hunt"}), contains("has no hunts"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: without solutions nothing is told, and mending still counts") {
  fs::remove_all(course.root() / "solutions");
  const Ended claim = course.halo({"hunt", "07", "--line", "4"});
  CHECK(claim.status == 77);
  CHECK_THAT(claim.err, contains("has no solutions"));
  write_text(file, kMended);
  CHECK(course.halo({"hunt", "07"}).status == 0);
}

TEST_CASE("debug: the check is given the program with debug information and the place to stop") {
  FakeCourse course;
  course.add("04_tile_and_halo", "Tile and halo");
  const Ended ended = course.halo({"debug", "04", "--block", "3", "--thread", "5", "--line", "30",
                                   "--seed", "9", "--batch", "--dap"});
  CAPTURE(ended.err);
  CHECK_THAT(course.check_words(),
             contains("yours-debug") &&
                 contains("--seed 9 --block 3 --thread 5 --line 30 --batch yes --dap yes"));
  CHECK(course.compilations() == 2);
  CHECK_THAT(course.halo({"debug"}).err, contains("which exercise? ./halo debug 04"));
  CHECK_THAT(course.halo({"debug", "04", "--thread", "2000"}).err, contains("--thread"));
  write_text(course.source("04_tile_and_halo"), "BROKEN\n");
  const Ended broken = course.halo({"debug", "04"});
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, contains("BROKEN was not declared"));
}
