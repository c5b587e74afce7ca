// `halo hint`, `halo show` and `halo reset`.
#include <filesystem>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

json::Value record(const FakeCourse& course) {
  return json::Value::parse(read_file(course.progress())).at("exercises").at(kTile);
}

}  // namespace

TEST_CASE("hint: one more each time, counted, and those seen again") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  CHECK_THAT(course.halo({"hint", "04", "--all"}).out, contains("no hint of 04 yet"));
  CHECK_FALSE(fs::exists(course.progress()));
  const Ended first = course.halo({"hint", "04"});
  CHECK(first.status == 0);
  CHECK(first.out == "hint 1 of 3\nThink.\n(./halo hint 04 again for the next)\n");
  CHECK_THAT(course.halo({"hint", "4"}).out, contains("hint 2 of 3\nThink harder.\n"));
  CHECK(course.halo({"hint", "04", "--all"}).out ==
        "hint 1 of 3\nThink.\n\nhint 2 of 3\nThink harder.\n");
  CHECK(record(course).get<int>("hints") == 2);
  CHECK_THAT(course.halo({"hint", "04"}).out, contains("It is the halo.") && !contains("again"));
  CHECK_THAT(course.halo({"hint", "04"}).out,
             contains("hint 3 of 3\nIt is the halo.") && contains("these were all"));
  CHECK(record(course).get<int>("hints") == 3);
  // They cost nothing, and the screen of the pass tells them.
  write_text(course.source(kTile), "RIGHT");
  CHECK_THAT(course.halo({"try", "04"}).out,
             contains("90 of 90 points") && contains("3 hints used"));
}

TEST_CASE("hint: its paragraphs are as wide as the terminal, its code stays as it is") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  write_text(course.file(kTile, "hints.md"),
             "## 1\nA paragraph that was\nbroken early, for an editor.\n\n    code(that);  // "
             "stays\n- a\n- b\n");
  const auto hint = [&](const char* columns) {
    return course.build.halo({"hint", "04"}, {columns}, course.root()).out;
  };
  CHECK_THAT(hint("COLUMNS=80"), contains("A paragraph that was broken early, for an editor.\n\n   "
                                          " code(that);  // stays\n- a\n- b\n"));
  CHECK_THAT(hint("COLUMNS=24"), contains("A paragraph that was\nbroken early, for an\neditor.\n"));
}

TEST_CASE("hint: an exercise without hints, or none at all, is one line") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  write_text(course.file(kTile, "hints.md"), "# Hints\nnothing\n");
  require_one_line(course.halo({"hint", "04"}), 2);
  fs::remove(course.file(kTile, "hints.md"));
  const Ended missing = course.halo({"hint", "04"});
  require_one_line(missing, 2);
  CHECK_THAT(missing.err, contains("hints.md"));
  const Ended none = course.halo({"hint"});
  require_one_line(none, 2);
  CHECK_THAT(none.err, contains("which exercise?") && contains("./halo hint 04"));
}

TEST_CASE("show: after the pass at once, before it at the second time of asking, which is noted") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  SECTION("before the pass") {
    const Ended first = course.halo({"show", "04"});
    CHECK(first.status == 1);
    CHECK(first.out.empty());
    CHECK(lines_of(first.err).size() == 1);
    CHECK_THAT(first.err, contains("not passed yet") && contains("noted"));
    CHECK(record(course).get_or("shown_solution", std::string()).empty());
    const Ended second = course.halo({"show", "04"});
    CHECK(second.status == 0);
    CHECK(second.out == "// Tile and halo\n// RIGHT\n");
    CHECK(!record(course).get_or("shown_solution", std::string()).empty());
    CHECK_THAT(course.halo({"progress"}).out, contains("solution shown"));
  }
  SECTION("after it") {
    write_text(course.source(kTile), "// RIGHT\n// mine\n");
    course.halo({"try", "04"});
    CHECK(course.halo({"show", "04"}).out == "// Tile and halo\n// RIGHT\n");
    CHECK(record(course).get_or("shown_solution", std::string()).empty());
    const Ended beside = course.halo({"show", "04", "--beside"});
    CHECK(beside.status == 0);
    CHECK_THAT(beside.out, contains("--- exercises/04_tile_and_halo/tile_and_halo.cu\n"
                                    "+++ solutions/04_tile_and_halo/tile_and_halo.cu\n") &&
                               contains("\n-// mine\n"));
    write_text(course.source(kTile), "// Tile and halo\n// RIGHT\n");
    CHECK_THAT(course.halo({"show", "04", "--beside"}).out, contains("character for character"));
  }
  SECTION("where nothing can be noted it is shown, and that is said") {
    fs::create_symlink(course.root() / "nowhere" / "progress.json", course.progress());
    const Ended shown = course.halo({"show", "04"});
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, contains("// RIGHT\n") && contains("could not be saved"));
  }
}

TEST_CASE("hint, show: what could not be written was not seen") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  const auto unseen = [&](const std::string& what, const std::string& where) {
    std::vector<std::string> words = course.build.command({what, "04"}, {}, course.root());
    words.insert(words.begin(), {"sh", "-c", "exec \"$@\" " + where, "sh"});
    CHECK(run_program(words).status == 74);
  };
  CHECK(course.halo({"show", "04"}).status == 1);
  for (const char* const where : {">&-", ">/dev/full"}) {
    unseen("hint", where);
    unseen("show", where);
  }
  CHECK(record(course).get_or("hints", 0) == 0);
  CHECK(record(course).get_or("shown_solution", std::string()).empty());
  CHECK_THAT(course.halo({"hint", "04"}).out, contains("hint 1 of 3"));
}

TEST_CASE("show: a copy of the course without solutions says so") {
  FakeCourse course;
  course.add(kTile, "Tile and halo");
  fs::remove_all(course.root() / "solutions" / kTile);
  const Ended one = course.halo({"show", "04"});
  require_one_line(one, 77);
  CHECK_THAT(one.err, contains("no solution of 04_tile_and_halo in solutions"));
  fs::remove_all(course.root() / "solutions");
  const Ended all = course.halo({"show", "04"});
  require_one_line(all, 77);
  CHECK_THAT(all.err, contains("this copy of the course has no solutions"));
  write_text(course.source(kTile), "RIGHT");
  CHECK_THAT(course.halo({"try", "04"}).out, !contains("halo show"));
}

TEST_CASE("reset: the skeleton is back, and every file of the student's is kept") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  const std::string skeleton = read_file(source);
  const Ended untouched = course.halo({"reset", "04"});
  CHECK(untouched.status == 0);
  CHECK_THAT(untouched.out, contains("is as it was at the start") && !contains("kept"));
  CHECK_FALSE(fs::exists(source.string() + ".1"));
  for (const std::string number : {"1", "2", "3"}) {
    write_text(source, "mine " + number);
    const Ended reset = course.halo({"reset", "04"});
    CHECK(reset.status == 0);
    CHECK(reset.out ==
          "exercises/04_tile_and_halo/tile_and_halo.cu is as it was at the start; "
          "yours is kept as tile_and_halo.cu." +
              number + "\n");
    CHECK(read_file(source) == skeleton);
    CHECK(read_file(source.string() + "." + number) == "mine " + number);
  }
  fs::remove(source);
  CHECK_THAT(course.halo({"reset", "04"}).out, contains("is there again"));
  CHECK(read_file(source) == skeleton);
}

TEST_CASE("show: beside it stands what there is to begin with, if nobody has begun") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  fs::remove(source);
  course.halo({"show", "04", "--beside"});
  const Ended shown = course.halo({"show", "04", "--beside"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, contains("-// TODO") && contains("+// RIGHT"));
  CHECK(read_file(source) == read_file(course.file(kTile, "start.cu")));
}

TEST_CASE("reset: what cannot be kept is not touched") {
  FakeCourse course;
  const fs::path source = course.add(kTile, "Tile and halo");
  write_text(source, "mine");
  SECTION("nothing to begin with") {
    fs::remove(course.file(kTile, "start.cu"));
    const Ended ended = course.halo({"reset", "04"});
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains("exercises/04_tile_and_halo/start.cu is missing"));
  }
  SECTION("no room for the copy") {
    const std::vector<std::string> halo = course.build.command({"reset", "04"}, {}, course.root());
    std::vector<std::string> command = {"sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"};
    command.insert(command.end(), halo.begin(), halo.end());
    // What it says goes to pipes, which have no limit.
    const Ended ended = run_program(command);
    CAPTURE(ended.err);
    CHECK(ended.status == 74);
    CHECK_THAT(ended.err, contains("nothing was changed"));
    CHECK_FALSE(fs::exists(source.string() + ".1"));
  }
  CHECK(read_file(source) == "mine");
}
