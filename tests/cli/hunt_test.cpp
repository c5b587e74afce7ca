// `halo hunt`: a mistake is claimed by line and kind, mended, and told in the end; `halo debug`: what the check
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
    course.add(kTile, "Tile and halo");
    const fs::path exercises = course.root() / "exercises/hunts";
    file = exercises / "07_softmax.cu";
    claims = exercises / "07_softmax.claims";
    write_text(exercises / "hunts.json",
               R"({"kinds": {"race": "two threads", "guard": "an if"}, "hunts": [
                   {"name": "07_softmax", "contract": "softmax", "stage": "12", "level": 2,
                    "symptom": "Rows are nan."},
                   {"name": "08_sum", "contract": "sum", "stage": "09", "level": 1, "symptom": "Too small."}]})");
    write_text(file, kHunt);
    write_text(exercises / "start/07_softmax.cu", kHunt);
    write_text(exercises / "start/08_sum.cu", kHunt);
    write_answer(R"({"line": 4, "with": ["RIGHT"]})");
    Marks right = right_marks("softmax"), wrong = wrong_marks("softmax");
    course.set_check("hunts", "if grep -q RIGHT \"$2\"; then\n  cat '" +
                                  course.told("hunt-right", right).string() +
                                  "' >&3; exit 0\nelse\n  cat '" +
                                  course.told("hunt-wrong", wrong).string() + "' >&3; exit 1\nfi");
  }
  void write_answer(const std::string& mend) const {
    write_text(
        course.root() / "solutions/hunts/answers.json",
        R"([{"name": "07_softmax", "kind": "race", "found_by": "race", "why": "Two threads meet.",
                    "source": "a listing", "mend": [)" +
            mend + "]}]");
  }
  json::Value record() const {
    return json::Value::parse(read_file(course.progress())).at("exercises").at("hunts/07_softmax");
  }

  FakeCourse course;
  fs::path file, claims;
};

}  // namespace

TEST_CASE_METHOD(HuntFixture, "hunt: all are listed by stage, with how they stand") {
  const Ended ended = course.halo({"hunt"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("after stage 09\n  08  sum                      *") &&
                            contains("after stage 12\n  07  softmax                  **") &&
                            contains("0 of 2 hunts are found"));
  CHECK(ended.out.find("08  sum") < ended.out.find("07  softmax"));
  CHECK_THAT(course.halo({"hunt", "--after", "9"}).out,
             contains("08  sum") && !contains("softmax") && contains("0 of 1 hunts are found"));
  CHECK_THAT(course.halo({"hunt", "--kinds"}).out, contains("race     two threads"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: one shows its file, what a user reports and the kinds") {
  const Ended ended = course.halo({"hunt", "7"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("exercises/hunts/07_softmax.cu") &&
                            contains("a user reports: Rows are nan.") &&
                            contains("kinds: race, guard"));
  CHECK(ended.err.empty());
  CHECK(!fs::exists(course.progress()));
}

TEST_CASE_METHOD(HuntFixture, "hunt: its file is made when it is asked for, once") {
  CHECK(course.halo({"hunt", "8"}).err == "made for you to edit: exercises/hunts/08_sum.cu\n");
  CHECK(read_file(file.parent_path() / "08_sum.cu") == kHunt);
  CHECK(course.halo({"hunt", "8"}).err.empty());
}

TEST_CASE_METHOD(HuntFixture, "hunt: a claim alone is noted, and nothing is said of it") {
  const Ended wrong = course.halo({"hunt", "07", "--line", "2", "--kind", "guard"});
  const Ended right = course.halo({"hunt", "07", "--line", "4", "--kind", "race"});
  CHECK(wrong.status == 0);
  CHECK(right.status == 0);
  CHECK_THAT(wrong.out, contains("your claim: line 2, guard") && contains("fix it"));
  CHECK_THAT(right.out, contains("your claim: line 4, race") && !contains("Two threads meet."));
  course.halo({"hunt", "07", "--line", "4", "--kind", "race"});  // the same once more is none
  CHECK(read_file(claims) == "2 guard\n4 race\n");
  CHECK(record().get<int>("claims") == 2);
}

TEST_CASE_METHOD(HuntFixture, "hunt: file and claim have one answer") {
  write_text(file, std::string(kHunt) + "six\n");
  write_text(claims, "4 race\n");
  const Ended not_mended = course.halo({"hunt", "07"});
  CHECK(not_mended.status == 1);
  CHECK_THAT(not_mended.out, contains("hunt 07: not yet\n") && contains("FAIL  short signals"));
  CHECK_THAT(course.check_words(), contains("--contract softmax"));
  write_text(file, kMended);
  for (const char* wrong : {"4 guard\n", "5 race\n", "2 race\n", "4 race\n1 race\n"}) {
    CAPTURE(wrong);
    write_text(claims, wrong);
    const Ended ended = course.halo({"hunt", "07"});
    CHECK(ended.status == 1);
    CHECK(ended.out == "hunt 07: not yet\n");
  }
  fs::remove(claims);
  CHECK_THAT(course.halo({"hunt", "07"}).out, contains("not yet: which line was it"));
  CHECK_THAT(course.halo({"hunt"}).out, contains("fixed") && contains("0 of 2 hunts are found"));
  write_text(claims, "1 guard\n4 race\n");
  const Ended found = course.halo({"hunt", "07"});
  CHECK(found.status == 0);
  CHECK_THAT(found.out, contains("hunt 07: found, by claim 2") &&
                            contains("found by the simulator: race") &&
                            contains("Two threads meet.") && contains("from: a listing"));
  CHECK(!record().get<std::string>("found").empty());
  CHECK_THAT(course.halo({"hunt"}).out, contains("1 of 2 hunts are found"));
  const std::string handed_in = read_file(claims);
  const Ended again = course.halo({"hunt", "07", "--line", "1", "--kind", "race"});
  CHECK(again.status == 2);
  CHECK(again.err == "halo: hunt 07 is found: another claim would count in its place\n");
  CHECK(read_file(claims) == handed_in);
}

TEST_CASE_METHOD(HuntFixture, "hunt: a claim counts behind the mark of UTF-8") {
  write_text(file, kMended);
  write_text(claims,
             "\xEF\xBB\xBF"
             "4 race\n");
  CHECK_THAT(course.halo({"hunt", "07"}).out, contains("hunt 07: found, by claim 1\n"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: inputs are those of this copy, or what was wrong again") {
  write_text(file, std::string(kHunt) + "six\n");
  course.halo({"hunt", "07"});
  CHECK_THAT(course.check_words(), !contains("--seed"));
  course.halo({"hunt", "07"});
  CHECK_THAT(course.check_words(), contains("--seed 7"));  // as it was told
  write_text(file, kMended);
  course.halo({"hunt", "07"});
  course.halo({"hunt", "07"});
  CHECK_THAT(course.check_words(), !contains("--seed"));
  write_text(course.root() / "exercises/student.json", R"({"student": "ada", "seed": 5})");
  course.halo({"hunt", "07"});
  CHECK_THAT(course.check_words(), contains("--seed 5"));
}

TEST_CASE_METHOD(HuntFixture, "hunt: of a line that is missing both neighbours are right") {
  write_answer(R"({"after": 2, "with": ["NEW"]})");
  write_text(file, kMended);
  for (const auto& [line, status] :
       {std::pair("1", 1), std::pair("2", 0), std::pair("3", 0), std::pair("4", 1)}) {
    CAPTURE(line);
    CHECK(course.halo({"hunt", "07", "--line", line, "--kind", "race"}).status == status);
    fs::remove(course.progress());  // as if it were not found yet
  }
}

TEST_CASE_METHOD(HuntFixture, "hunt: wrong use is one line") {
  const auto said = [&](const std::vector<std::string>& words) {
    const Ended ended = course.halo(words);
    CHECK(ended.status == 2);
    CHECK(lines_of(ended.err).size() == 1);
    return ended.err;
  };
  CHECK_THAT(said({"hunt", "softmx"}), contains("did you mean softmax"));
  CHECK_THAT(said({"hunt", "07", "--line", "4", "--kind", "rase"}), contains("did you mean race"));
  CHECK_THAT(said({"hunt", "07", "--line", "4"}), contains("a claim needs both"));
  CHECK_THAT(said({"hunt", "--line", "3"}), contains("which hunt?"));
  CHECK_THAT(said({"hunt", "07", "--line", "0"}), contains("--line"));
  CHECK_THAT(said({"hunt", "07", "--line", "6", "--kind", "race"}), contains("has 5 lines"));
  CHECK_FALSE(fs::exists(claims));
  CHECK_THAT(said({"hunt", "--after", "99"}), contains("the last hunts are those after stage 12"));
  write_text(file, "BROKEN\n");
  CHECK_THAT(course.halo({"hunt", "07"}).err, contains("does not compile"));
  write_text(course.root() / "exercises/hunts/hunts.json", "{");
  CHECK_THAT(said({"hunt"}), contains("hunts.json cannot be read"));
  fs::remove_all(course.root() / "exercises/hunts");
  CHECK_THAT(said({"hunt"}), contains("has no hunts"));
}

TEST_CASE_METHOD(
    HuntFixture,
    "hunt: without solutions the claim is kept for the grader, and mending still counts") {
  fs::remove_all(course.root() / "solutions");
  course.halo({"hunt", "07", "--line", "4", "--kind", "race"});
  CHECK(read_file(claims) == "4 race\n");
  write_text(file, kMended);
  const Ended mended = course.halo({"hunt", "07"});
  CHECK(mended.status == 0);
  CHECK_THAT(mended.out, contains("fixed; the claim is judged when both are handed in"));
  CHECK(!record().get<std::string>("passed").empty());
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
  CHECK_THAT(course.halo({"debug"}).err, contains("which exercise? For example: ./halo debug 04"));
  CHECK_THAT(course.halo({"debug", "04", "--thread", "2000"}).err, contains("--thread"));
  write_text(course.source("04_tile_and_halo"), "BROKEN\n");
  const Ended broken = course.halo({"debug", "04"});
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, contains("BROKEN was not declared"));
}

TEST_CASE("debug and trace: where there is no kernel they say so, and compile nothing") {
  FakeCourse course;
  course.add("01_many_outputs", "Several outputs");
  course.set_check("01_many_outputs", "exit 1", true);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"debug", "01"}, {"trace", "01", "--exercise"}}) {
    const Ended ended = course.halo(words);
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("01_many_outputs runs on the host: it has no kernel"));
  }
  CHECK(course.compilations() == 0);
}
