// `halo try`: from a student's file to a verdict, and one clear line for whatever comes between.
#include <signal.h>

#include <chrono>
#include <filesystem>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"
#include "tests/cli/terminal.hpp"

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

struct TryFixture {
  TryFixture() : source(course.add(kTile, "Tile and halo")) {}
  FakeCourse course;
  fs::path source;
};

// Whether there is a process of this number. One that has ended and that nobody waits for is none.
bool is_running(const std::string& pid) {
  if (pid.empty()) return false;  // ended before it had begun
  const std::string status = read_file("/proc/" + lines_of(pid).at(0) + "/stat");
  const std::size_t state = status.rfind(") ");
  return state != std::string::npos && status[state + 2] != 'Z';
}

}  // namespace

TEST_CASE_METHOD(TryFixture, "try: what is wrong, in a screen, and status 1") {
  const Ended ended = course.halo({"try", "04"}, {"COLUMNS=80"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.err.empty());
  const std::vector<std::string> lines = lines_of(ended.out);
  CHECK_THAT(lines[0], contains("04  Tile and halo  ") && contains("20 of 90 points, attempt 1"));
  CHECK_THAT(ended.out, contains("FAIL  short signals: output[4] is 0.31, should be -1.07") &&
                            contains("also  no hazards: a race") &&
                            contains("judged once it is correct"));
  CHECK_THAT(ended.out, contains("0 of 2 right, 2 open: predictions.txt") && !contains("264"));
  CHECK_THAT(ended.out, contains("2 written questions are still open in "
                                 "exercises/04_tile_and_halo/answers.md"));
  CHECK_THAT(ended.out, contains("seed 7: the same inputs again until it is right\n"));
  CHECK_THAT(lines.back(), contains("./halo hint 04"));
  CHECK(lines.size() <= 22);
  for (const std::string& line : lines) CHECK(line.size() <= 80);
}

TEST_CASE_METHOD(TryFixture, "try: a pass is status 0, says what it cost and what is next") {
  course.add("05_shuffles", "Shuffles");
  write_text(source, "RIGHT");
  const Ended ended = course.halo({"try", "04"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("PASSED  90 of 90 points, attempt 1") &&
                            contains("bytes per output 9.25, at most 9.6") &&
                            contains("next: ./halo show 04 --beside; then 05, Shuffles"));
  // What was not predicted is told now.
  CHECK_THAT(ended.out, contains("\"cells per block\" is 264"));
}

TEST_CASE_METHOD(TryFixture, "try: the check is told the program, the file and the seed") {
  course.halo({"try", "04", "--seed", "5"});
  const std::string words = course.check_words();
  CHECK_THAT(
      words,
      contains("--program " + (course.build.path() / "exercises" / kTile / "yours").string()) &&
          contains("--on sim --source exercises/04_tile_and_halo/tile_and_halo.cu --seed 5"));
  course.halo({"try", "04", "--seed", "18446744073709551615"});
  CHECK_THAT(course.check_words(), contains("--seed 18446744073709551615"));
}

TEST_CASE_METHOD(TryFixture, "try: what was wrong has the same inputs again until it is right") {
  course.halo({"try", "04"});
  CHECK_THAT(course.check_words(), !contains("--seed"));
  write_text(source, "still wrong");
  course.halo({"try", "04"});
  CHECK_THAT(course.check_words(), contains("--seed 7"));
  write_text(source, "RIGHT");
  course.halo({"try", "04"});
  CHECK_THAT(course.check_words(), contains("--seed 7"));
  course.halo({"try", "04"});
  CHECK_THAT(course.check_words(), !contains("--seed"));
}

TEST_CASE_METHOD(TryFixture, "try: a student's own copy has a seed of its own") {
  const fs::path own = course.root() / "exercises" / "student.json";
  write_text(own, R"({"student": "s1", "seed": 421337})");
  course.halo({"try", "04"});
  CHECK_THAT(course.check_words(), contains("--seed 421337"));
  course.halo({"try", "04", "--seed", "5"});
  CHECK_THAT(course.check_words(), contains("--seed 5") && !contains("421337"));
  write_text(own, "{");
  const Ended ended = course.halo({"try", "04"});
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, contains("student.json cannot be read") && contains("your copy"));
  CHECK(lines_of(ended.err).size() == 1);
}

TEST_CASE_METHOD(TryFixture,
                 "try: an exercise is named by number, name or path; without one it is the next") {
  course.add("05_shuffles", "Shuffles");
  for (const char* typed :
       {"04", "4", "tile_and_halo", "04_tile_and_halo", "exercises/04_tile_and_halo",
        "exercises/04_tile_and_halo/", "./exercises/04_tile_and_halo/tile_and_halo.cu",
        "/home/ada/24_gpu/halo/exercises/04_tile_and_halo/tile_and_halo.cu", "tile_and_halo.cu"}) {
    CAPTURE(typed);
    CHECK_THAT(course.halo({"try", typed}).out, contains("04  Tile and halo"));
  }
  CHECK_THAT(course.halo({"try"}).out, contains("04  Tile and halo"));
  write_text(source, "RIGHT");
  course.halo({"try"});
  CHECK_THAT(course.halo({"try"}).out, contains("05  Shuffles"));
  const Ended unknown = course.halo({"try", "tile_and_hola"});
  require_one_line(unknown, 2);
  CHECK_THAT(unknown.err, contains("no exercise 'tile_and_hola'; did you mean 04_tile_and_halo?") &&
                              contains("there are 04 05"));
}

TEST_CASE_METHOD(TryFixture, "try: nothing is compiled again that has not changed") {
  course.halo({"try", "04"});
  CHECK(course.compilations() == 1);
  course.halo({"try", "04"});
  CHECK(course.compilations() == 1);
  SECTION("the file") { write_text(source, "other"); }
  SECTION("the file, back to an earlier time and of the same length") {
    const auto time = fs::last_write_time(source);
    std::string text = read_file(source);
    text[3] = 'X';
    write_text(source, text);
    fs::last_write_time(source, time);
  }
  SECTION("the library") {
    write_text(course.build.path() / "common/exercise/libexercise-worker.a", "newer");
  }
  SECTION("the compiler") { course.set_compiler("cp \"$1\" \"$3\" # another"); }
  SECTION("the program has gone") {
    fs::remove(course.build.path() / "exercises" / kTile / "yours");
  }
  CHECK(course.halo({"try", "04"}).status == 1);
  CHECK(course.compilations() == 2);
}

TEST_CASE_METHOD(
    TryFixture,
    "try: after a change that does not compile the old program is not taken for the new") {
  write_text(source, "RIGHT");
  CHECK(course.halo({"try", "04"}).status == 0);
  write_text(source, "RIGHT\nBROKEN");
  CHECK(course.halo({"try", "04"}).status == 2);
  write_text(source, "RIGHT");
  CHECK(course.halo({"try", "04"}).status == 0);
  write_text(source, "wrong");
  CHECK(course.halo({"try", "04"}).status == 1);
}

TEST_CASE_METHOD(TryFixture, "try: compile errors are shown with their lines, and status 2") {
  write_text(source, "a\nb BROKEN");
  const Ended ended = course.halo({"try", "04"});
  CAPTURE(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err ==
        "04  Tile and halo  does not compile\n"
        "exercises/04_tile_and_halo/tile_and_halo.cu:2:5: error: BROKEN was not declared in this "
        "scope\n");
  SECTION("many of them are one screen") {
    course.set_compiler("for i in $(seq 100); do echo \"$1:$i:1: error: no\" >&2; done; exit 1");
    const Ended many = course.halo({"try", "04"});
    CHECK(many.status == 2);
    CHECK(lines_of(many.err).size() <= 20);
    CHECK_THAT(many.err, contains("compiler.log)"));
    CHECK(lines_of(read_file(course.build.path() / "exercises" / kTile / "yours-compiler.log"))
              .size() == 100);
  }
  SECTION("a compiler that says nothing, dies or leaves nothing") {
    for (const auto& [body, said] : {std::pair{"exit 3", "exit status 3"},
                                     {"kill -9 $$", "signal 9"},
                                     {"exit 0", "left no program"}}) {
      course.set_compiler(body);
      const Ended none = course.halo({"try", "04"});
      CAPTURE(body, none.err);
      CHECK(none.status == 2);
      CHECK_THAT(none.err, contains(said));
    }
  }
  SECTION("one that this machine has no room for is no verdict on the file") {
    for (const char* said :
         {"<built-in>: fatal error: when writing output to x.ii: No space left on device",
          "g++: fatal error: Killed signal terminated program cc1plus",
          "nvcc fatal   : Could not open output file ",
          "nvcc fatal   : Failed to preprocess host compiler properties."}) {
      course.set_compiler(std::string("echo '") + said + "' >&2; exit 1");
      const Ended none = course.halo({"try", "04"});
      CAPTURE(said, none.err);
      require_one_line(none, 74);
      CHECK_THAT(none.err, contains("no verdict: ") && contains(said));
    }
    // What a file says itself is its own.
    for (const char* said :
         {":1:2: error: #error No space left on device",
          "(3): warning: function was declared deprecated (No space left on device)",
          ":4:9: fatal error: No space left on device: No such file or directory",
          ":5:1: error: static assertion failed:\ng++: fatal error: Killed signal terminated "
          "program"}) {
      course.set_compiler(std::string("echo \"$1") + said + "\" >&2; exit 1");
      CAPTURE(said);
      CHECK(course.halo({"try", "04"}).status == 2);
    }
  }
  SECTION(
      "of nvcc's lines its errors are told, and the student's text is no fault of the machine") {
    course.set_compiler(
        "echo \"$1(2): error: expected a \\\";\\\"\" >&2\n"
        "echo '    puts(\"out of memory\")' >&2\n"
        "echo 'Remark: The warnings can be suppressed' >&2\n"
        "echo '1 error detected in the compilation of \"x\".' >&2; exit 2");
    const Ended none = course.halo({"try", "04"});
    CHECK(none.status == 2);
    CHECK_THAT(none.err, contains("(2): error: expected a \";\"") && !contains("Remark") &&
                             !contains("detected"));
  }
  SECTION("what beginners do about an error stands below it, once") {
    for (const auto& [said, way] :
         {std::pair{"a host function call cannot be configured", "__global__ stands before it"},
          {"a __global__ function call must be configured", "name<<<blocks, threads>>>"},
          {"calling a __host__ function(\\\"f\\\") from a __global__ function(\\\"g\\\")",
           "__device__ stands before it"},
          {"identifier \\\"size\\\" is undefined in device code", "make it constexpr"},
          {"namespace \\\"std\\\" has no member \\\"cout\\\"", "prints by printf"},
          {"identifier \\\"assert\\\" is undefined", "#include <cassert>"},
          {"identifier \\\"__shfl_up\\\" is undefined", "__shfl_sync(0xffffffff"}}) {
      course.set_compiler(std::string("echo \"$1(2): error: ") + said +
                          "\" >&2\necho '    line 2' >&2; exit 2");
      const Ended none = course.halo({"try", "04"});
      CAPTURE(none.err);
      CHECK(none.status == 2);
      CHECK_THAT(none.err, contains("try: ") && contains(way));
      CHECK(none.err.find("try: ") == none.err.rfind("try: "));
    }
  }
  SECTION("of an assembler's lines its errors are told") {
    course.set_compiler(
        "echo 'x.s:2826: Warning: dwarf line number ignored' >&2\n"
        "echo 'x.s:30: Error: file not found: /nowhere' >&2; exit 1");
    CHECK_THAT(course.halo({"try", "04"}).err, contains("Error: file not found"));
  }
  SECTION("an endless one is ended with all that it started") {
    course.set_compiler("sleep 600 & echo $! > '" + (course.build.path() / "pid").string() +
                        "'; wait");
    const Ended slow = course.halo({"try", "04", "--time-limit", "1"});
    CHECK(slow.status == 2);
    CHECK_THAT(slow.err, contains("ended after 1 s (--time-limit)"));
    CHECK_FALSE(is_running(read_file(course.build.path() / "pid")));
  }
}

TEST_CASE_METHOD(TryFixture, "try: a file that is saved while it is compiled is compiled again") {
  // The first compilation sees the old file; what is judged is the new one.
  course.set_compiler("cp \"$1\" \"$3\"\n[ -e '" + (course.build.path() / "saved").string() +
                      "' ] || echo RIGHT > \"$1\"\n: > '" +
                      (course.build.path() / "saved").string() + "'");
  CHECK(course.halo({"try", "04"}).status == 0);
  CHECK(course.compilations() == 2);
}

TEST_CASE_METHOD(TryFixture, "try: what grade refuses has no points, whatever its check says") {
  const auto refused = [&](const std::string& text) {
    write_text(source, text + "\n// RIGHT\n");
    for (int time = 0; time < 2; ++time) {
      const Ended ended = course.halo({"try", "04"});
      CHECK(ended.status == 2);
      CHECK_FALSE(fs::exists(course.progress()));
      CHECK_THAT(ended.err,
                 contains("04  Tile and halo  no points\n./halo grade refuses this file"));
      CHECK(ended.out.empty());
      if (time == 1) return ended.err;
    }
    return std::string();
  };
  CHECK_THAT(refused("#include \"/etc/passwd\""), contains("line 1: #include of an absolute path"));
  // As the compiler says it.
  course.set_compiler(
      "printf '# 1 \"%s\"\\nasm\\n' \"$1\" > \"$(dirname \"$3\")/tile_and_halo.cpp4.ii\"\n"
      "cp \"$1\" \"$3\"");
  CHECK_THAT(refused("PTX"), contains("line 1: asm"));
  course.set_compiler(
      "printf '# 1 \"%s\"\\n# 1 \"%s/tile.cuh\" 1\\n' \"$1\" \"$(dirname \"$1\")\" > "
      "\"$(dirname \"$3\")/tile_and_halo.cpp4.ii\"\ncp \"$1\" \"$3\"");
  CHECK_THAT(refused("its own header"), contains("'tile.cuh': only this file is handed in"));
  course.set_compiler("cp \"$1\" \"$3\"");
  write_text(course.build.path() / "bin/nm", "#!/bin/sh\necho fork U\n");
  CHECK_THAT(refused("it forks"), contains("it uses fork, which starts other programs"));
}

TEST_CASE_METHOD(TryFixture,
                 "try: a warning of the compiler is told beside the verdict, each time") {
  course.set_compiler("echo \"$1:7:3: warning: unused variable 'halo'\" >&2; cp \"$1\" \"$3\"");
  for (int time = 0; time < 2; ++time) {
    CHECK_THAT(course.halo({"try", "04"}).out,
               contains("tile_and_halo.cu:7:3: warning: unused variable 'halo'"));
  }
}

TEST_CASE_METHOD(TryFixture, "try: a check without a verdict is one line and never a pass") {
  write_text(source, "RIGHT");
  const std::string right = "cat '" + course.told("right", right_marks(kTile)).string() + "' >&3\n";
  const std::string wrong = "cat '" + course.told("wrong", wrong_marks(kTile)).string() + "' >&3\n";
  const std::string other =
      "cat '" + course.told("other", right_marks("05_other")).string() + "' >&3\n";
  struct Lie {
    std::string body;
    std::string said;
  };
  for (const Lie& lie : std::vector<Lie>{
           {"exit 0", "judged nothing"},
           {"exit 1", "judged nothing"},
           {"echo refused >&2; exit 2", "refused"},
           {right + "kill -11 $$", "signal 11"},
           {right + "exit 1", "which its 4 cases do not explain"},
           {wrong + "exit 0", "which its 4 cases do not explain"},
           {right + "exit 3", "exit status 3"},
           {right + "echo garbage >&3; exit 0", "not what a check tells"},
           {right + "printf '{\"case\"' >&3; exit 0", "cut short"},
           {other + "exit 0", "judged '05_other'"},
           {"head -n 1 '" + course.told("head", right_marks(kTile)).string() + "' >&3; exit 0",
            "judged nothing"}}) {
    course.set_check(kTile, lie.body);
    const Ended ended = course.halo({"try", "04"});
    CAPTURE(lie.body);
    require_one_line(ended, 1);
    CHECK_THAT(ended.err, contains("halo: no verdict: ") && contains(lie.said));
    CHECK_FALSE(fs::exists(course.progress()));
  }
}

TEST_CASE_METHOD(TryFixture, "try: a check that is silent for too long is ended with its worker") {
  course.set_check(kTile,
                   "sleep 600 & echo $! > '" + (course.build.path() / "pid").string() + "'; wait");
  const Ended ended = course.halo({"try", "04", "--time-limit", "1"});
  require_one_line(ended, 1);
  CHECK_THAT(ended.err, contains("gave no sign of life for 1 s"));
  CHECK_FALSE(is_running(read_file(course.build.path() / "pid")));
}

TEST_CASE_METHOD(TryFixture,
                 "try: where the machine hinders a check there is no verdict, and status 74") {
  course.set_check(kTile, "cat '" + course.told("wrong", wrong_marks(kTile)).string() +
                              "' >&3; echo 'it had no processor' >&2; exit 74");
  const Ended ended = course.halo({"try", "04"});
  require_one_line(ended, 74);
  CHECK_THAT(ended.err, contains("no verdict: it had no processor"));
  CHECK_FALSE(fs::exists(course.progress()));
}

TEST_CASE_METHOD(TryFixture, "try: what cannot be run here is one line and status 77") {
  SECTION("the check says so") {
    course.set_check(kTile, "echo 'check-04: no GPU here' >&2; exit 77");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("no GPU here"));
  }
  SECTION("no GPU programs") { require_one_line(course.halo({"try", "04", "--on", "gpu"}), 77); }
  SECTION("no GPU") {
    write_text(course.build.path() / "common/exercise/compilers.json",
               R"({"words": ["nvcc", "{source}", "-o", "{program}"], "gpu": "/cuda/lib64"})");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("NVIDIA"));
    require_one_line(course.halo({"try", "04", "--on", "sim"}), 77);
  }
  SECTION("a build without exercises") {
    fs::remove(course.build.path() / "common/exercise/compilers.json");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("compilers.json"));
  }
  SECTION("an exercise without a check") {
    write_text(course.root() / "exercises/09_new/new.cu", "x");
    const Ended ended = course.halo({"try", "09"});
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("no check of 09_new"));
  }
  SECTION("a compiler that is not there") {
    fs::remove(course.build.path() / "bin/compiler");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 77);
    CHECK_THAT(ended.err, contains("cannot run") && contains("bin/compiler"));
  }
}

TEST_CASE_METHOD(TryFixture, "try: what a backend cannot judge is no failure, and no pass") {
  Marks marks = right_marks(kTile);
  marks.cases[2].outcome = marks.cases[3].outcome = Outcome::not_run;
  marks.cases[2].points = marks.cases[3].points = 0;
  marks.cases[2].message = marks.cases[3].message = "the GPU searches for no hazards";
  course.set_check(kTile, "cat '" + course.told("gpu", marks).string() +
                              "' >&3; echo 'time: 12 us a call'; exit 0");
  const Ended ended = course.halo({"try", "04"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("\n  time ") && contains("12 us a call\n"));
  // Beside the course's kernel it is a long line, and told to its end.
  course.set_check(kTile, "cat '" + course.told("gpu", marks).string() +
                              "' >&3; echo 'time: " + std::string(240, '1') + " us'; exit 0");
  CHECK_THAT(course.halo({"try", "04"}).out, contains("1 us\n"));
  CHECK_THAT(ended.out, contains("45 of 90 points") && !contains("PASSED") &&
                            contains("NOT RUN  0 of 15     the GPU searches for no hazards") &&
                            contains("./halo try 04 --on sim"));
  CHECK_THAT(read_file(course.progress()), !contains("passed"));
}

TEST_CASE_METHOD(TryFixture,
                 "try: the first one makes the student's files and leaves alone what is there") {
  const fs::path predictions = course.file(kTile, "predictions.txt");
  fs::remove(source);
  fs::remove(predictions);
  write_text(course.file(kTile, "answers.md"), "mine");
  const Ended first = course.halo({"try", "04"});
  CHECK(first.status == 1);
  CHECK(first.err ==
        "made for you to edit: exercises/04_tile_and_halo/tile_and_halo.cu, predictions.txt; the "
        "task: README.md beside it\n");
  CHECK(read_file(source) == read_file(course.file(kTile, "start.cu")));
  CHECK(read_file(predictions) == read_file(course.file(kTile, "start_predictions.txt")));
  CHECK(read_file(course.file(kTile, "answers.md")) == "mine");
  // Where it is the other one that is edited.
  fs::last_write_time(source, fs::last_write_time(source) - std::chrono::minutes(1));
  write_text(course.file(kTile, "start.cu"), "RIGHT");
  const Ended other = course.halo({"try", "04"});
  CHECK(other.status == 1);
  CHECK(other.err ==
        "exercises/04_tile_and_halo/start.cu was saved after tile_and_halo.cu, and only that one "
        "is judged: edit exercises/04_tile_and_halo/tile_and_halo.cu\n");
  write_text(source, "RIGHT");
  const Ended second = course.halo({"try", "04"});
  CHECK(second.status == 0);
  CHECK(second.err.empty());
  CHECK(read_file(source) == "RIGHT");
}

TEST_CASE_METHOD(TryFixture, "try: git sees nothing of what the student has") {
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", course.root().string(), "-c", "user.name=a", "-c",
                                 "user.email=a@b.c"});
    return run_program(words);
  };
  if (!git({"init", "-q"}).good()) {
    WARN("no git here");
    return;
  }
  for (const std::string name : {".gitignore", "exercises/.gitignore"}) {
    write_text(course.root() / name, read_file(required_variable("HALO_ROOT") + "/" + name));
  }
  for (const std::string name : {"predictions.txt", "answers.md", "tile_and_halo.cu"}) {
    fs::remove(course.file(kTile, name));
  }
  REQUIRE(git({"add", "exercises", ".gitignore"}).good());
  REQUIRE(git({"commit", "-qm", "The course"}).good());
  CHECK(course.halo({"try", "04"}).status == 1);
  write_text(source, "RIGHT");
  CHECK(course.halo({"try", "04"}).status == 0);
  CHECK(course.halo({"reset", "04"}).status == 0);
  CHECK(fs::exists(source.string() + ".1"));
  CHECK(git({"status", "--porcelain", "--", "exercises"}).out.empty());
}

TEST_CASE_METHOD(TryFixture, "try: a folder that is not in order is one line") {
  SECTION("no .cu, and none to begin with") {
    fs::remove(source);
    fs::remove(course.file(kTile, "start.cu"));
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains("exercises/04_tile_and_halo/start.cu is missing"));
  }
  SECTION("two .cu; an editor's hidden one does not count") {
    write_text(course.file(kTile, ".#x.cu"), "x");
    CHECK(course.halo({"try", "04"}).status == 1);
    write_text(course.file(kTile, "old.cu"), "x");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains("more than one .cu file, old.cu and tile_and_halo.cu"));
  }
  SECTION("a .cu that is a folder") {
    fs::remove(source);
    fs::create_directory(source);
    require_one_line(course.halo({"try", "04"}), 2);
  }
  SECTION("predictions that are no file") {
    fs::remove(course.file(kTile, "predictions.txt"));
    fs::create_directory(course.file(kTile, "predictions.txt"));
    require_one_line(course.halo({"try", "04"}), 2);
  }
  SECTION("no exercises") {
    fs::remove_all(course.root() / "exercises");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains("there are no exercises in exercises"));
  }
  SECTION("a build folder that cannot be written") {
    write_text(course.build.path() / "exercises/04_tile_and_halo", "a file");
    const Ended ended = course.halo({"try", "04"});
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains("cannot write to ") && contains("HALO_BUILD"));
  }
  SECTION("a check that does not compile") {
    course.build.set_ninja(
        "case $words in *-n) echo work; exit;; esac\n"
        "echo '../tests/exercises/04.cpp:3:1: error: no such thing'; exit 1");
    const Ended ended = course.halo({"try", "04"});
    CHECK(ended.status == 2);
    CHECK_THAT(ended.err, contains("no such thing"));
    CHECK_THAT(last_line(ended.err), contains("the check of 04_tile_and_halo does not compile"));
  }
}

TEST_CASE_METHOD(TryFixture,
                 "try: a prediction is judged once it is said, and counts as it was first said") {
  const fs::path predictions = course.file(kTile, "predictions.txt");
  write_text(predictions, "# How many cells?\ncells_per_block = 256\nbarriers =\n");
  const Ended first = course.halo({"try", "04"});
  CHECK_THAT(first.out, contains("0 of 2 right, 1 open") &&
                            contains("\"cells per block\": you said 256, it is 264 (yours: 264)") &&
                            !contains("barriers"));
  // To say something else now is too late.
  write_text(predictions, "cells_per_block = 264\nbarriers = 1\n");
  const Ended second = course.halo({"try", "04"});
  CHECK_THAT(second.out, contains("20 of 90 points") && contains("1 of 2 right") &&
                             contains("\"barriers\": you said 1, which is right") &&
                             !contains("cells per block"));
  write_text(source, "RIGHT");
  const Ended third = course.halo({"try", "04"});
  CHECK_THAT(third.out, contains("PASSED  90 of 90 points") &&
                            contains("\"cells per block\": you said 256, it is 264"));
  const json::Value said =
      json::Value::parse(read_file(course.progress())).at("exercises").at(kTile).at("predictions");
  CHECK(said.at("cells_per_block").get<double>("said") == 256);
  CHECK_FALSE(said.at("cells_per_block").get<bool>("right"));
  CHECK(said.at("barriers").get<bool>("right"));
}

TEST_CASE_METHOD(TryFixture, "try: what was predicted under a key of before still counts") {
  write_text(course.progress(),
             R"({"format": "halo progress 1", "exercises": {"04_tile_and_halo": {"attempts": 1,
                 "predictions": {"cells_a_block": {"said": 256, "right": false}}}}})");
  write_text(course.file(kTile, "predictions.txt"), "cells_a_block = 264\nbarriers = 1\n");
  CHECK_THAT(course.halo({"try", "04"}).out, contains("1 of 2 right"));
  CHECK_THAT(read_file(course.progress()), contains("\"cells_per_block\"") && contains("256"));
}

TEST_CASE_METHOD(TryFixture, "try: predictions that are no numbers are told and left open") {
  write_text(course.file(kTile, "predictions.txt"), "cells_per_block = lots\nbarriers = 1\n");
  const Ended ended = course.halo({"try", "04"});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("predictions.txt:1: 'lots' is no number") &&
                            contains("1 of 2 right, 1 open"));
}

TEST_CASE_METHOD(TryFixture,
                 "try: an answer to no question is told, and a file in Notepad's UTF-8 read") {
  write_text(course.file(kTile, "predictions.txt"),
             "\xEF\xBB\xBF# Cells?\ncell_per_block = 264\nbarriers = 1\n");
  const Ended ended = course.halo({"try", "04"}, {"COLUMNS=200"});
  CHECK_THAT(ended.out, contains("predictions.txt: there is no question cell_per_block; did you "
                                 "mean cells_per_block?") &&
                            contains("1 of 2 right, 1 open") && !contains("is not of the form"));
}

TEST_CASE_METHOD(TryFixture, "try: written answers are counted until they are written") {
  const auto says = [&](const std::string& answers) {
    write_text(course.file(kTile, "answers.md"), answers);
    return course.halo({"try", "04"}).out;
  };
  CHECK_THAT(says("1. Why?\n   So.\n2. What if?\n   (your answer, two sentences)\n"),
             contains("1 written question is still open"));
  CHECK_THAT(says("1. Why?\n   So.\n2. What if?\n   Then.\n"), !contains("written question"));
  fs::remove(course.file(kTile, "answers.md"));
  fs::remove(course.file(kTile, "start_answers.md"));
  CHECK_THAT(course.halo({"try", "04"}).out, !contains("written question"));
}

TEST_CASE_METHOD(TryFixture, "try: at a terminal it asks before the first run, and only then") {
  const fs::path predictions = course.file(kTile, "predictions.txt");
  const auto command = course.build.command({"try", "04"}, {"COLUMNS=80"}, course.root());
  SECTION("answers") {
    Terminal terminal(command);
    CHECK_THAT(terminal.wait_for("cells_per_block = "),
               contains("The task: exercises/04_tile_and_halo/README.md") &&
                   contains("Before the first run, predict") &&
                   contains("1 of 2  How many cells?"));
    terminal.press("lots\n");
    terminal.wait_for("is not a number");
    terminal.press("264\n");
    terminal.wait_for("barriers = ");
    terminal.press("\n");
    CHECK(terminal.end() == 1);
    CHECK_THAT(terminal.screen(), contains("1 of 2 right, 1 open"));
    CHECK(read_file(predictions) ==
          "# How many cells?\ncells_per_block = 264\n# How many barriers?\nbarriers =\n");
    Terminal again(command);
    CHECK(again.end() == 1);
    CHECK_THAT(again.screen(), !contains("barriers = "));
  }
  SECTION("Ctrl-D ends the questions") {
    Terminal terminal(command);
    terminal.wait_for("cells_per_block = ");
    terminal.press("\x04");
    CHECK(terminal.end() == 1);
  }
  SECTION("Ctrl-C keeps what was answered") {
    Terminal terminal(command);
    terminal.wait_for("cells_per_block = ");
    terminal.press("1\n");
    terminal.wait_for("barriers = ");
    terminal.press("\x03");
    CHECK(terminal.end() == 128 + SIGINT);
    CHECK_THAT(read_file(predictions), contains("cells_per_block = 1\n"));
    CHECK_FALSE(fs::exists(course.progress()));
  }
  SECTION("not with --no-ask") {
    Terminal terminal(
        course.build.command({"try", "04", "--no-ask"}, {"COLUMNS=80"}, course.root()));
    CHECK(terminal.end() == 1);
    CHECK_THAT(terminal.screen(), !contains("predict (") && contains("20 of 90 points"));
  }
}

TEST_CASE_METHOD(TryFixture, "try: Ctrl-C ends the check and leaves no trace") {
  course.halo({"try", "04"});
  const std::string before = read_file(course.progress());
  course.set_check(kTile,
                   "sleep 600 & echo $! > '" + (course.build.path() / "pid").string() + "'; wait");
  Terminal terminal(course.build.command({"try", "04"}, {"COLUMNS=80"}, course.root()));
  const fs::path pid = course.build.path() / "pid";
  wait_until("the check runs", [&] { return read_file(pid).ends_with("\n"); });
  terminal.press("\x03");
  CHECK(terminal.end() == 128 + SIGINT);
  CHECK_THAT(terminal.screen(), contains("halo: interrupted"));
  CHECK(read_file(course.progress()) == before);
  CHECK_FALSE(is_running(read_file(pid)));
  // Nothing lies about either.
  for (const auto& entry : fs::directory_iterator(course.root() / "exercises")) {
    const std::string name = entry.path().filename().string();
    CHECK((name == kTile || name == "progress.json"));
  }
}

TEST_CASE_METHOD(TryFixture, "try: the commands' help and wrong words") {
  for (const char* command : {"try", "watch", "hint", "show", "reset", "progress"}) {
    const Ended help = course.halo({command, "--help"});
    CAPTURE(command);
    CHECK(help.status == 0);
    CHECK_THAT(help.out, contains("--help"));
    require_one_line(course.halo({command, "--nonsense"}), 2);
  }
  require_one_line(course.halo({"try", "04", "--on", "moon"}), 2);
  for (const char* command : {"try", "debug", "grade"}) {
    const Ended refused = course.halo({command, "04", "--seed", "18446744073709551616"});
    require_one_line(refused, 2);
    CHECK_THAT(refused.err,
               contains("--seed: '18446744073709551616' is not a whole number from 0 to "
                        "18,446,744,073,709,551,615"));
  }
  require_one_line(course.halo({"try", "04", "--time-limit", "-1"}), 2);
}
