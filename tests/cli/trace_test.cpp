// `halo trace`: what is started, what comes of it, and wrong use. And what `halo toolkit` builds.
#include <unistd.h>

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

// A program that leaves a trace of a kernel of this name, if it is asked for one, and notes how it was started.
std::string traces(const std::string& kernel) {
  return R"json(
echo "$words" >> )json" +
         std::string("\"${0%/*}/started\"") + R"json(
[ "$SIMT_TRACE" = 1 ] || exit 9
cat > "$SIMT_REPORT" <<END
{"schema_version": 1, "launches": [{"kernel": ")json" +
         kernel + R"json((float*)", "grid": [4, 1, 1], "block": [64, 1, 1], "shared_bytes": 0,
 "counters": {"global_load_requests": 8, "global_load_sectors": 40}, "findings": [],
 "lines": [{"file": "k.cu", "line": 1,
  "counters": {"global_load_requests": 8, "global_load_sectors": 40}}],
 "trace": {"arrays": [{"name": "input", "space": "global", "bytes": 1024, "phase": 0}],
  "warps": [{"block": [0, 0, 0], "warp": 0, "steps": 1, "requests": [{"step": 0,
   "kind": "global_load", "file": "k.cu", "line": 1, "bytes": 4, "taken": 5, "fewest": 4,
   "lanes": [[0, 32, 0, 4, 4]]}]}],
  "lines": [{"file": "k.cu", "line": 1, "fewest": {"global_load_sectors": 32},
   "first": 0, "middle": -1, "worst": 0}]}}]}
END
)json";
}

struct Traced {
  FakeBuild build;
  Traced() {
    build.add_program("04_tiled", "sim", traces("tiled"));
    build.add_family("04_tiled", "conv1d");
    build.add_program("01_cpu", "cpu", "");
    build.add_family("01_cpu", "conv1d");
  }
  // Each start of the program, its words.
  std::vector<std::string> starts() const {
    for (const auto& entry : fs::recursive_directory_iterator(build.path())) {
      if (entry.path().filename() == "started") return lines_of(read_file(entry.path()));
    }
    return {};
  }
};

}  // namespace

TEST_CASE_METHOD(Traced, "trace: a stage's page is written, and its name printed") {
  const Ended ended = build.halo({"trace", "04", "--length", "500"});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  const fs::path page = build.path() / "trace" / "04_tiled.html";
  CHECK_THAT(ended.out, contains("04_tiled.html"));
  CHECK(lines_of(ended.out).size() == 1);
  CHECK_THAT(read_file(page), contains("./halo trace 04 --length 500") && contains("\"tiled\""));
  REQUIRE(starts().size() == 1);
  CHECK_THAT(starts()[0], contains("--no-peers --no-trials --no-times --length 500"));
}

TEST_CASE_METHOD(Traced, "trace: variants are run one by one and lie side by side") {
  const fs::path page = build.path() / "mine.html";
  const Ended ended =
      build.halo({"trace", "04", "--variant", "one,other", "--output", page.string()});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  REQUIRE(starts().size() == 2);
  CHECK_THAT(starts()[0], contains("--variant one"));
  CHECK_THAT(starts()[1], contains("--variant other"));
  CHECK_THAT(read_file(page), contains("\"beside\":1") && contains("\"name\":\"one\"") &&
                                  contains("\"name\":\"other\""));
}

TEST_CASE_METHOD(Traced, "trace: --explain says it in words and writes no page") {
  const Ended ended = build.halo({"trace", "04", "--explain"}, {"COLUMNS=0"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out,
             contains("8 too many in 8 requests") && contains("begin 4 bytes into a sector"));
  CHECK_FALSE(fs::exists(build.path() / "trace" / "04_tiled.html"));
}

TEST_CASE_METHOD(Traced, "trace: a program of simcc is run with its arguments") {
  const fs::path program = build.path() / "program";
  write_text(program, "#!/bin/sh\nwords=$*\n" + traces("own"));
  fs::permissions(program, fs::perms(0755));
  const Ended ended = build.halo({"trace", program.string(), "--args", "12 large", "--explain"});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("own: grid 4, block 64"));
  REQUIRE(starts().size() == 1);
  CHECK(starts()[0] == "12 large");
}

TEST_CASE_METHOD(Traced, "trace: what a program found does not keep it from being shown") {
  build.add_program("05_bad", "sim", traces("bad") + "exit 1\n");
  build.add_family("05_bad", "conv1d");
  const Ended ended = build.halo({"trace", "05", "--explain"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.err, contains("ended with exit status 1"));
  CHECK_THAT(ended.out, contains("bad: grid 4"));
  // A program of simcc ends so, and nobody would see what the simulator said.
  const fs::path program = build.path() / "found";
  write_text(program, "#!/bin/sh\n" + traces("found") + "echo 'k.cu:3: error: race' >&2\nexit 3\n");
  fs::permissions(program, fs::perms(0755));
  CHECK_THAT(build.halo({"trace", program.string(), "--explain"}).err,
             contains("k.cu:3: error: race\n") && contains("ended with exit status 3"));
}

TEST_CASE_METHOD(Traced, "trace: wrong use is one line") {
  build.add_program("10_first", "sim", traces("a"));
  build.add_program("10_other", "sim", traces("b"));
  build.add_program("06_refuses", "sim", "echo '06_refuses-sim: no such variant' >&2; exit 2\n");
  build.add_program("07_silent", "sim", "exit 0\n");
  const fs::path text = build.path() / "notes.txt";
  write_text(text, "no program\n");
  const fs::path exercise = build.path() / "tile.cu";
  write_text(exercise, "#include \"common/exercise/exercise.h\"\n");
  const std::vector<std::string> wrong[] = {
      {"trace"},
      {"trace", "99"},
      {"trace", "10"},
      {"trace", "04", "--args", "5"},
      {"trace", "04", "--numbers", "5"},
      {"trace", "04", "--explain", "--output", "x.html"},
      {"trace", "04", "--layer", "7-1-3-2-1"},
      {"trace", "04", "--color", "mauve"},
      {"trace", "04", "--strict"},
      {"trace", "06", "--variant", "none"},
      {"trace", "07"},
      {"trace", text.string()},
      {"trace", text.string(), "--length", "5"},
      {"trace", exercise.string()},
  };
  for (const auto& args : wrong) {
    CAPTURE(args);
    require_one_line(build.halo(args), 2);
  }
  CHECK_THAT(build.halo({"trace", "06"}).err, contains("halo: no such variant"));
  CHECK_THAT(build.halo({"trace", exercise.string()}).err, contains("./halo trace NN --exercise"));
  CHECK_THAT(build.halo({"trace", "none.cu"}).err, contains("halo: there is no file 'none.cu'"));
  // Nothing that a GPU could run.
  require_one_line(build.halo({"trace", "01"}), 77);
  require_one_line(build.halo({"trace", "04", "--output", "/nowhere/at/all.html"}), 74);
}

TEST_CASE_METHOD(Traced, "trace: where no kernel was launched it says what may be the cause") {
  const std::string silent = "#!/bin/sh\nexit 0\n";
  const fs::path program = build.path() / "silent", source = build.path() / "silent.cu";
  write_text(program, silent);
  fs::permissions(program, fs::perms(0755));
  CHECK_THAT(build.halo({"trace", program.string()}).err, contains("was it made by simcc?"));
  // A compiler that makes this program of any file.
  const fs::path simcc = build.path() / "common/simt/cudart/simcc";
  fs::create_directories(simcc.parent_path());
  write_text(simcc, "#!/bin/sh\ncp '" + program.string() + "' \"$3\"\n");
  fs::permissions(simcc, fs::perms(0755));
  build.add_target(simcc);
  write_text(source, "int main() {}\n");
  const Ended of_source = build.halo({"trace", source.string()});
  CHECK(of_source.status == 2);
  CHECK_THAT(of_source.err, contains("go in --args") && !contains("simcc"));
  // What the compiler lacks is no fault of the file.
  write_text(simcc,
             "#!/bin/sh\necho \"nvcc fatal   : Could not open output file '/no/x'\" >&2\nexit 1\n");
  const Ended of_machine = build.halo({"trace", source.string()});
  CHECK(of_machine.status == 77);
  CHECK_THAT(of_machine.err, contains("by no fault of its own: nvcc fatal   : Could not open") &&
                                 !contains("does not compile"));
}

TEST_CASE("trace: an exercise's check runs one problem of the student's file") {
  FakeCourse course;
  course.add("04_tile_and_halo", "Tile and halo");
  course.set_check("04_tile_and_halo", traces("mine"));
  const Ended ended =
      course.halo({"trace", "04", "--exercise", "--numbers", "100,9,32", "--explain"});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("mine: grid 4") || contains("mine"));
  CHECK_THAT(course.check_words(), contains("--trace 100,9,32") && contains("yours"));
  CHECK(course.halo({"trace", "04", "--exercise", "--explain"}).status == 0);
  CHECK_THAT(course.check_words(), contains("--trace usual"));
  require_one_line(course.halo({"trace", "04", "--exercise", "--length", "5"}), 2);
  course.set_check("04_tile_and_halo", "echo '--numbers: 3 are wanted' >&2; exit 2\n");
  const Ended refused = course.halo({"trace", "04", "--exercise", "--numbers", "1"});
  require_one_line(refused, 2);
  CHECK_THAT(refused.err, contains("3 are wanted"));
}

TEST_CASE("trace: a report that cannot be written is told as that") {
  FakeBuild build;
  build.add_program("04_tiled", "sim", "echo 'simt: cannot write the report' >&2; exit 74\n");
  build.add_family("04_tiled", "conv1d");
  const Ended ended = build.halo({"trace", "04"});
  require_one_line(ended, 74);
  CHECK_THAT(ended.err, contains("cannot write the report"));
}

TEST_CASE("try: of a budget that is not kept the worst lines are explained") {
  FakeCourse course;
  course.add("04_tile_and_halo", "Tile and halo");
  Marks marks = right_marks("04_tile_and_halo");
  CaseMark& budget = marks.cases.back();
  REQUIRE(budget.category == Category::budget);
  budget.points = 0;
  budget.outcome = Outcome::bad;
  budget.message = "bytes per output: 57";
  budget.budget = {{"bytes per output", 57, 9.5, 9.25, false, "", 0, 0, {1000, 9, 256}}};
  const std::string told = course.told("marks", marks).string();
  const auto checks = [&](const std::string& on_trace) {
    course.set_check("04_tile_and_halo", "case \"$*\" in *--trace*)\n" + on_trace + ";; *) cat '" +
                                             told + "' >&3; exit 1;; esac\n");
  };
  checks(traces("mine"));
  const Ended ended = course.halo({"try", "04"}, {"COLUMNS=0"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("begin 4 bytes into a sector") &&
                            contains("./halo trace 04 --exercise --numbers 1000,9,256"));
  CHECK_THAT(course.check_words(), contains("--trace 1000,9,256"));
  // Marks are marks, whatever becomes of the explanation.
  checks("exit 2\n");
  const Ended without = course.halo({"try", "04"}, {"COLUMNS=0"});
  CHECK(without.status == 1);
  CHECK_THAT(without.out, contains("bytes per output") && !contains("halo trace"));
}

TEST_CASE("run: of traffic that is not as predicted the worst lines are explained") {
  Row row = good_row("04_tiled", "tiled");
  const auto run = [&](const Row& told) {
    FakeBuild build;
    build.add_family("04_tiled", "conv1d");
    const std::string file = build.told("rows", {told}).string();
    build.add_program("04_tiled", "sim",
                      "case \"$words\" in *--no-trials*)\n" + traces("tiled") + ";; *) cat '" +
                          file + "' >&3;; esac\n");
    return build.halo({"run", "04", "--on", "sim", "--strict", "--length", "77"}, {"COLUMNS=0"});
  };
  CHECK_THAT(run(row).out, !contains("halo trace"));
  row.traffic.outcome = Outcome::bad;
  row.traffic.reason = "the sectors differ";
  const Ended ended = run(row);
  CAPTURE(ended.out, ended.err);
  CHECK_THAT(ended.out, contains("begin 4 bytes into a sector") &&
                            contains("./halo trace 04 --variant tiled"));
  // What is wrong is mended first.
  row.check.outcome = Outcome::bad;
  row.check.reason = "wrong";
  CHECK_THAT(run(row).out, !contains("halo trace"));
}

TEST_CASE("toolkit: what is built are simcc and all libraries that a program may link") {
  FakeBuild build;
  const fs::path folder = build.path() / "common/simt";
  for (const char* name : {"cudart/simcc", "libraries/libcublas.so.13", "libraries/libcurand.so.10",
                           "libraries/libsimt-nvrtc.so"}) {
    build.add_target(folder / name);
  }
  const Ended ended = build.halo({"toolkit"});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  for (const char* name : {"simcc", "libcublas.so.13", "libcurand.so.10", "libsimt-nvrtc.so"}) {
    CHECK_THAT(build.ninja_words().back(), contains(name));
  }
}
