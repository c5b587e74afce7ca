// exercises/progress.json: what is kept, what is refused, and that nothing is lost.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

json::Value record(const FakeCourse& course, const std::string& name) {
  return json::Value::parse(read_file(course.progress())).at("exercises").at(name);
}

}  // namespace

TEST_CASE("progress: attempts, the best points and the date of the pass are kept") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  CHECK(course.halo({"try", "04"}).status == 1);
  CHECK(record(course, kTile).get<int>("attempts") == 1);
  CHECK(record(course, kTile).get<double>("best") == 20);
  CHECK(record(course, kTile).get<double>("most") == 90);
  CHECK(record(course, kTile).get_or("passed", std::string()).empty());
  write_text(source, "RIGHT");
  CHECK(course.halo({"try", "04"}).status == 0);
  const auto passed = record(course, kTile).get<std::string>("passed");
  CHECK(passed.size() == 20);
  // Worse again: what was reached stays.
  write_text(source, "wrong");
  CHECK(course.halo({"try", "04"}).status == 1);
  CHECK(record(course, kTile).get<int>("attempts") == 3);
  CHECK(record(course, kTile).get<double>("best") == 90);
  CHECK(record(course, kTile).get<std::string>("passed") == passed);
}

TEST_CASE("progress: what does not compile is no attempt") {
  FakeCourse course;
  write_text(course.add(kTile, "Tile and halo"), "a\nBROKEN");
  CHECK(course.halo({"try", "04"}).status == 2);
  CHECK_FALSE(fs::exists(course.progress()));
}

TEST_CASE("progress: a file that is broken or not ours is one line, and stays as it is") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  const std::string ours = R"({"format": "halo progress 1", "exercises": {)";
  struct Bad {
    std::string text;
    std::string said;
  };
  for (const Bad& bad : std::vector<Bad>{
           {"", "cut short"},
           {ours, "cut short"},
           {"garbage", "cut short"},
           {"[1, 2]", "is not Halo's"},
           {"{}", "is not Halo's"},
           {R"({"format": "a game"})", "is not Halo's"},
           {R"({"format": "halo progress 2", "exercises": {}})", "another version of Halo"},
           {R"({"format": "halo progress 1"})", "changed by hand or is damaged"},
           {R"({"format": "halo progress 1", "exercises": []})", "changed by hand or is damaged"},
           {ours + R"("04_tile_and_halo": 5}})", "changed by hand or is damaged"},
           {ours + R"("04_tile_and_halo": {"attempts": -1}}})", "changed by hand or is damaged"},
           {ours + R"("04_tile_and_halo": {"attempts": "many"}}})", "damaged"},
           {ours + R"("04_tile_and_halo": {"predictions": {"a": 1}}}})", "damaged"}}) {
    write_text(course.progress(), bad.text);
    for (const std::vector<std::string>& args : {std::vector<std::string>{"try", "04"},
                                                 {"watch"},
                                                 {"progress"},
                                                 {"hint", "04"},
                                                 {"show", "04"}}) {
      CAPTURE(bad.text, args);
      const Ended ended = course.halo(args);
      require_one_line(ended, 2);
      CHECK_THAT(ended.err, contains("exercises/progress.json ") && contains(bad.said) &&
                                contains("mv exercises/progress.json"));
      CHECK(read_file(course.progress()) == bad.text);
    }
  }
  CHECK(course.compilations() == 0);
  // A list is none of its business.
  CHECK(course.halo({"list"}).status == 0);
}

TEST_CASE("list: no line is longer than the terminal") {
  FakeCourse course;
  course.add(kTile, "Tile and halo, the ends repeated, and more");
  // The first line of the stages is as long in every course.
  const Ended narrow = course.halo({"list"}, {"COLUMNS=20"});
  CAPTURE(narrow.out);
  CHECK(narrow.status == 0);
  for (const std::string& line : lines_of(narrow.out)) CHECK(line.size() <= 20);
  CHECK_THAT(narrow.out, contains("04  Tile and halo,\n    the ends"));
  CHECK_THAT(course.halo({"list"}, {"COLUMNS=0"}).out,
             contains("04  Tile and halo, the ends repeated, and more, not yet"));
}

TEST_CASE("progress: what somebody else wrote into the file stays in it") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  write_text(course.progress(),
             R"({"format": "halo progress 1", "course": "CS 1", "exercises": {"99_gone":
                {"attempts": 3}, "04_tile_and_halo": {"remark": "hard", "attempts": 4}}})");
  course.halo({"try", "04"});
  const json::Value whole = json::Value::parse(read_file(course.progress()));
  CHECK(whole.get<std::string>("course") == "CS 1");
  CHECK(whole.at("exercises").at("99_gone").get<int>("attempts") == 3);
  CHECK(record(course, kTile).get<std::string>("remark") == "hard");
  CHECK(record(course, kTile).get<int>("attempts") == 5);
}

TEST_CASE("progress: where it cannot be written, the attempt is judged all the same and says so") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  // For the superuser too: a link into a folder that is not there.
  fs::create_symlink(course.root() / "nowhere" / "progress.json", course.progress());
  const Ended wrong = course.halo({"try", "04"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, contains("FAIL  short signals") &&
                            contains("your progress could not be saved: cannot write '"));
  write_text(source, "RIGHT");
  const Ended right = course.halo({"try", "04"});
  CHECK(right.status == 0);
  CHECK_THAT(right.out, contains("PASSED") && contains("could not be saved"));
  const Ended hint = course.halo({"hint", "04"});
  CHECK(hint.status == 0);
  CHECK_THAT(hint.out, contains("Think.") && contains("could not be saved"));
}

TEST_CASE("progress: a `halo` that holds the file is waited for, not for ever") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  const int folder = open((course.root() / "exercises").c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(flock(folder, LOCK_EX) == 0);
  const Ended ended = course.halo({"try", "04"});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("another ./halo holds exercises"));
  close(folder);
  course.halo({"try", "04"});
  CHECK(record(course, kTile).get<int>("attempts") == 1);
}

TEST_CASE("progress: two attempts at once are both counted") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  course.add("05_shuffles", "Shuffles");
  Running one(course.build.command({"try", "04"}, {}, course.root()));
  Running two(course.build.command({"try", "05"}, {}, course.root()));
  Running three(course.build.command({"try", "04"}, {}, course.root()));
  while (!one.has_ended() || !two.has_ended() || !three.has_ended()) watch({&one, &two, &three});
  CAPTURE(one.ended().err, one.ended().out);
  CHECK(record(course, kTile).get<int>("attempts") == 2);
  CHECK(record(course, "05_shuffles").get<int>("attempts") == 1);
}

TEST_CASE("progress: the bar, the points and what is next") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  course.add("05_shuffles", "Shuffles");
  const Ended fresh = course.halo({"progress"});
  CHECK(fresh.status == 0);
  CHECK_THAT(fresh.out, contains("[--------------]  0 of 2 passed, 0 of 200 points") &&
                            contains("next: ./halo watch 04   Tile and halo"));
  write_text(course.file(kTile, "predictions.txt"), "cells_per_block = 264\nbarriers = 3\n");
  course.halo({"hint", "04"});
  course.halo({"try", "04"});
  CHECK_THAT(course.halo({"progress"}).out,
             contains("20 of 90  1 attempt, 1 hint  <- here") &&
                 contains("1 hint seen, 0 hunts fixed, 0 found with 0 claims, "
                          "1 of 2 predictions right"));
  write_text(source, "RIGHT");
  course.halo({"try", "04"});
  const Ended passed = course.halo({"progress"});
  CAPTURE(passed.out);
  CHECK_THAT(passed.out, contains("[#######-------]  1 of 2 passed, 90 of 190 points") &&
                             contains("90 of 90  passed, 1 hint") &&
                             contains("next: ./halo watch 05   Shuffles"));
  CHECK_THAT(course.halo({"list"}).out,
             contains("04  Tile and halo, passed 20") && contains("05  Shuffles, not yet"));
  write_text(course.source("05_shuffles"), "RIGHT");
  course.halo({"try"});
  CHECK_THAT(course.halo({"progress"}).out, contains("all exercises are passed"));
  CHECK(course.halo({"try"}).out == "all exercises are passed: ./halo progress\n");
}
