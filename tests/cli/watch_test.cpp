// `halo watch`: a verdict on each save, on a terminal one screen, whatever an editor does to the file.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_course.hpp"
#include "tests/cli/terminal.hpp"

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

struct WatchFixture {
  WatchFixture() : source(course.add(kTile, "Tile and halo")) {}

  std::vector<std::string> command(std::vector<std::string> args = {}) const {
    args.insert(args.begin(), {"watch", "--no-ask"});
    return course.build.command(args, {"COLUMNS=80"}, course.root());
  }
  int attempts(const std::string& name = kTile) const {
    const std::string text = read_file(course.progress());
    if (text.empty()) return 0;
    const json::Value whole = json::Value::parse(text);
    const json::Value* const record = whole.at("exercises").find(name);
    return record ? record->get<int>("attempts") : 0;
  }
  // As an editor does that writes another file and gives it the name.
  void save_by_rename(const std::string& text) const {
    const fs::path fresh = source.string() + ".swp";
    write_text(fresh, text);
    fs::rename(fresh, source);
  }

  FakeCourse course;
  fs::path source;
};

// A `halo watch` off a terminal, and what it has written so far.
class Background {
 public:
  explicit Background(const std::vector<std::string>& command) : program_(command) {}

  // Waits until its output has the text behind what was found before; false if it ends without.
  bool says(const std::string& text) {
    std::size_t found = std::string::npos;
    wait_until("it says \"" + text + "\"", [&] {
      found = program_.ended().out.find(text, from_);
      if (found != std::string::npos || program_.has_ended()) return true;
      watch({&program_});
      return false;
    });
    if (found == std::string::npos) return false;
    from_ = found + text.size();
    return true;
  }
  const Ended& end() {
    while (!program_.has_ended()) watch({&program_});
    return program_.ended();
  }
  const Ended& so_far() const { return program_.ended(); }

 private:
  Running program_;
  std::size_t from_ = 0;
};

void wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST_CASE_METHOD(WatchFixture,
                 "watch: each save is judged, and the next exercise begins after a pass") {
  const fs::path second = course.add("05_shuffles", "Shuffles");
  Background watching(command());
  REQUIRE(watching.says("halo watch  [--------------]  0 of 2 passed, 20 of 190 points"));
  REQUIRE(watching.says("judged in "));
  REQUIRE(watching.says("04  Tile and halo"));
  REQUIRE(watching.says("FAIL  short signals"));
  write_text(source, "a\nBROKEN");
  REQUIRE(watching.says("04  Tile and halo  does not compile"));
  REQUIRE(watching.says("tile_and_halo.cu:2:5: error: BROKEN"));
  write_text(source, "RIGHT");
  REQUIRE(watching.says("PASSED  90 of 90 points"));
  REQUIRE(watching.says("next: 05  Shuffles"));
  REQUIRE(watching.says("05  Shuffles"));
  REQUIRE(watching.says("FAIL  short signals"));
  write_text(second, "RIGHT");
  REQUIRE(watching.says("PASSED"));
  const Ended& ended = watching.end();
  CHECK(ended.status == 0);
  CHECK(last_line(ended.out) == "all exercises are passed: ./halo progress");
  // What passes at once is said at once.
  const Ended again = course.halo({"watch"});
  CHECK(again.status == 0);
  CHECK(again.out == "all exercises are passed: ./halo progress\n");
}

TEST_CASE_METHOD(WatchFixture, "watch: an exercise's files are made when it begins, and told") {
  const fs::path second = course.add("05_shuffles", "Shuffles");
  fs::remove(source);
  fs::remove(second);
  Background watching(command());
  REQUIRE(
      watching.says("made for you to edit: exercises/04_tile_and_halo/tile_and_halo.cu; "
                    "the task: README.md beside it\n"));
  REQUIRE(watching.says("FAIL  short signals"));
  CHECK(read_file(source) == read_file(course.file(kTile, "start.cu")));
  CHECK_FALSE(fs::exists(second));
  fs::last_write_time(source, fs::last_write_time(source) - std::chrono::minutes(1));
  write_text(course.file(kTile, "start.cu"), "RIGHT");
  REQUIRE(watching.says("only that one is judged: edit exercises/04_tile_and_halo"));
  write_text(source, "RIGHT");
  REQUIRE(
      watching.says("made for you to edit: exercises/05_shuffles/shuffles.cu; the "
                    "task: README.md beside it\n"));
  REQUIRE(watching.says("FAIL  short signals"));
  CHECK(read_file(second) == read_file(course.file("05_shuffles", "start.cu")));
}

TEST_CASE_METHOD(WatchFixture,
                 "watch: whatever way an editor saves, nothing is missed and nothing breaks") {
  Background watching(command());
  int judged = 0;
  // How many attempts are judged until it is this text that was.
  const auto attempts_until = [&](const std::string& text) {
    const int before = judged;
    do {
      REQUIRE(watching.says("attempt " + std::to_string(++judged)));
    } while (read_file(course.build.path() / "exercises" / kTile / "yours") != text);
    return judged - before;
  };
  // A file that this test is held up with, half written, is whole to whoever looks at it.
  using Clock = std::chrono::steady_clock;
  Clock::duration longest(0);
  const auto write_and_wait = [&](const std::string& text, int milliseconds) {
    const auto begin = Clock::now();
    std::ofstream(source, std::ios::app) << text;
    wait(milliseconds);
    longest = std::max(longest, Clock::now() - begin);
  };

  CHECK(attempts_until(read_file(source)) == 1);
  save_by_rename("second");
  CHECK(attempts_until("second") == 1);
  // Moved away, and a new one written: between them there is none.
  fs::rename(source, source.string() + "~");
  wait(300);
  write_text(source, "third");
  CHECK(attempts_until("third") == 1);
  // Emptied, and filled a moment later: the empty file is no attempt.
  write_text(source, "");
  write_and_wait("", 200);
  write_and_wait("fourth", 0);
  const int fourth = attempts_until("fourth");
  CHECK((fourth == 1 || longest > std::chrono::milliseconds(400)));
  // In pieces.
  longest = {};
  write_text(source, "pieces\n");
  std::string pieces = "pieces\n";
  for (int piece = 0; piece < 20; ++piece) {
    write_and_wait("piece " + std::to_string(piece) + "\n", 10);
    pieces += "piece " + std::to_string(piece) + "\n";
  }
  const int fifth = attempts_until(pieces);
  CHECK((fifth == 1 || longest > std::chrono::milliseconds(40)));
  // Away for longer.
  fs::remove(source);
  REQUIRE(watching.says("the file is gone"));
  write_text(source, "sixth");
  CHECK(attempts_until("sixth") == 1);
  // The predictions are the student's too.
  write_text(course.file(kTile, "predictions.txt"), "barriers = 1\n");
  CHECK(attempts_until("sixth") == 1);
  REQUIRE(watching.says("\"barriers\": you said 1, which is right"));
  wait(500);
  CHECK(attempts() == judged);
}

TEST_CASE_METHOD(WatchFixture,
                 "watch: a save during a run begins a new one, and the old one is not judged") {
  const fs::path slow = course.build.path() / "slow";
  write_text(slow, "");
  course.set_check(kTile, "if [ -e '" + slow.string() + "' ]; then : > '" + slow.string() +
                              "-began'; sleep 600; fi\ncat '" +
                              course.told("wrong", wrong_marks(kTile)).string() + "' >&3; exit 1");
  Background watching(command());
  wait_until("the check runs", [&] { return fs::exists(slow.string() + "-began"); });
  fs::remove(slow);
  write_text(source, "second");
  REQUIRE(watching.says("attempt 1"));
  CHECK(read_file(course.build.path() / "exercises" / kTile / "yours") == "second");
}

TEST_CASE_METHOD(WatchFixture, "watch: two of them are one too many") {
  Background watching(command());
  REQUIRE(watching.says("attempt 1"));
  const Ended second = course.halo({"watch", "04"});
  require_one_line(second, 2);
  CHECK_THAT(second.err, contains("another ./halo watch is running here"));
  // The other commands are not in its way.
  CHECK(course.halo({"hint", "04"}).status == 0);
  CHECK(course.halo({"try", "04"}).status == 1);
}

TEST_CASE_METHOD(WatchFixture, "watch: a signal ends it and what it runs; the state is whole") {
  const fs::path pid = course.build.path() / "halo-pid";
  signal(SIGHUP,
         SIG_DFL);  // who runs the tests by nohup has it ignored, and so has what they start
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    for (const bool runs : {false, true}) {
      CAPTURE(number, runs);
      fs::remove(pid);
      // A name of its own each time: an earlier check may still be about to write.
      const std::string began = pid.string() + "-" + std::to_string(number) + "-began";
      course.set_check(kTile, runs ? ": > '" + began + "'; sleep 600"
                                   : "cat '" + course.told("wrong", wrong_marks(kTile)).string() +
                                         "' >&3; exit 1");
      std::vector<std::string> words = {"sh", "-c", "echo $$ > \"$0\"; exec \"$@\"", pid.string()};
      const std::vector<std::string> halo = command();
      words.insert(words.end(), halo.begin(), halo.end());
      Background watching(words);
      if (runs) {
        wait_until("the check runs", [&] { return fs::exists(began); });
      } else {
        REQUIRE(watching.says("next: "));
      }
      wait_until("its number is written", [&] { return read_file(pid).ends_with("\n"); });
      kill(std::stoi(read_file(pid)), number);
      const Ended& ended = watching.end();
      CHECK(ended.status == 128 + number);
      CHECK(ended.err == "halo: interrupted\n");
    }
  }
  CHECK(attempts() == 3);
}

TEST_CASE_METHOD(WatchFixture, "watch: one screen on a terminal, and a key for each thing") {
  course.add("05_shuffles", "Shuffles");
  const std::string skeleton = read_file(source);
  Terminal terminal(command());
  std::string screen = terminal.wait_for("[q]uit", "FAIL  short signals");
  CAPTURE(screen);
  CHECK_THAT(screen, contains("halo watch  [--------------]  0 of 2 passed, 20 of 190 points") &&
                         contains("exercises/04_tile_and_halo/tile_and_halo.cu  saved ") &&
                         contains("FAIL  short signals"));
  CHECK(lines_of(screen).size() <= 24);
  for (const std::string& line : lines_of(screen)) CHECK(line.size() <= 80);
  CHECK_FALSE(terminal.is_as_before());

  SECTION("hints and back") {
    terminal.press("h");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("hint 1 of 3\nThink.") && !contains("FAIL"));
    terminal.press("h");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("hint 2 of 3\nThink harder."));
    terminal.press(" ");
    terminal.wait_for("[q]uit", "FAIL  short signals");
    terminal.press("q");
    CHECK(terminal.end() == 0);
  }
  SECTION("the solution at the second time of asking") {
    terminal.press("s");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("not passed yet") && !contains("RIGHT"));
    terminal.press("s");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("+// RIGHT"));
  }
  SECTION("a reset, which is asked for twice") {
    write_text(source, "mine");
    terminal.wait_for("attempt 2", "FAIL");
    terminal.press("r");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("r again"));
    CHECK(read_file(source) == "mine");
    terminal.press("r");
    CHECK_THAT(terminal.wait_for("attempt 3"), contains("yours is kept as tile_and_halo.cu.1"));
    CHECK(read_file(source) == skeleton);
    CHECK(read_file(source.string() + ".1") == "mine");
  }
  SECTION("the next exercise, asked for twice before the pass and once behind it") {
    terminal.press("n");
    CHECK_THAT(terminal.wait_for("[q]uit"), contains("n again leaves it for later"));
    terminal.press("n");
    terminal.wait_for("05  Shuffles", "FAIL");
    write_text(course.source("05_shuffles"), "RIGHT");
    CHECK_THAT(terminal.wait_for("passed: [n]ext"),
               contains("PASSED") && contains("1 of 2 passed"));
    terminal.press("n");
    terminal.wait_for("04  Tile and halo", "FAIL");
    write_text(source, "RIGHT");
    terminal.wait_for("passed: [n]ext");
    terminal.press("n");
    CHECK(terminal.end() == 0);
    CHECK_THAT(terminal.screen(), contains("all exercises are passed"));
  }
  SECTION("Ctrl-C") {
    terminal.press("\x03");
    CHECK(terminal.end() == 128 + SIGINT);
  }
  SECTION("SIGTERM") {
    terminal.signal(SIGTERM);
    CHECK(terminal.end() == 128 + SIGTERM);
  }
  SECTION("q while it judges") {
    course.set_check(kTile, "sleep 600");
    write_text(source, "slow");
    terminal.wait_for("checking 04_tile_and_halo");
    terminal.press("q");
    CHECK(terminal.end() == 0);
  }
  SECTION("Ctrl-C while it judges") {
    course.set_check(kTile, "sleep 600");
    write_text(source, "slow");
    terminal.wait_for("checking 04_tile_and_halo");
    terminal.press("\x03");
    CHECK(terminal.end() == 128 + SIGINT);
  }
  SECTION("Ctrl-C while it asks") {
    write_text(source, "RIGHT");
    terminal.wait_for("passed: [n]ext");
    terminal.press("q");
    CHECK(terminal.end() == 0);
    Terminal asks(course.build.command({"watch", "05"}, {"COLUMNS=80"}, course.root()));
    asks.wait_for("cells_per_block = ");
    CHECK(asks.is_as_before());
    asks.press("\x03");
    CHECK(asks.end() == 128 + SIGINT);
    CHECK(attempts("05_shuffles") == 0);
  }
  SECTION("a state file that somebody breaks meanwhile is told, and not written over") {
    write_text(course.progress(), "garbage");
    write_text(source, "second");
    CHECK_THAT(terminal.wait_for("could not be saved"), contains("FAIL  short signals"));
    CHECK(read_file(course.progress()) == "garbage");
  }
  SECTION("more than the screen has room for") {
    std::string long_hint = "## 1\n";
    for (int i = 0; i < 60; ++i)
      long_hint += "a line that is a good deal longer than the eighty letters of this terminal, " +
                   std::to_string(i) + "\n";
    write_text(course.file(kTile, "hints.md"), long_hint);
    terminal.press("h");
    screen = terminal.wait_for("[q]uit");
    CHECK_THAT(screen, contains("..."));
    CHECK(lines_of(screen).size() <= 24);
    for (const std::string& line : lines_of(screen)) CHECK(line.size() <= 80);
  }
}

TEST_CASE_METHOD(WatchFixture, "watch: the terminal is itself again however it ends") {
  course.set_check(kTile, "echo told >&2; exit 9");
  Terminal terminal(command());
  SECTION("q") {
    terminal.wait_for("no verdict");
    terminal.press("q");
    CHECK(terminal.end() == 0);
  }
  SECTION("Ctrl-C") {
    terminal.wait_for("no verdict");
    terminal.press("\x03");
    CHECK(terminal.end() == 128 + SIGINT);
  }
  SECTION("SIGTERM") {
    terminal.wait_for("no verdict");
    terminal.signal(SIGTERM);
    CHECK(terminal.end() == 128 + SIGTERM);
  }
  SECTION("wrong use") {
    fs::remove_all(course.root() / "exercises");
    terminal.end();
  }
  CHECK(terminal.is_as_before());
}
