// `halo watch`: an exercise judged on each save, on one screen.
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <optional>
#include <sstream>

#include "common/build/builder.hpp"
#include "common/cli/commands.hpp"
#include "common/cli/help_with.hpp"
#include "common/cli/keys.hpp"
#include "common/exercise/judgement.hpp"
#include "common/exercise/marks_text.hpp"
#include "common/exercise/standing.hpp"
#include "common/process/process.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
using WatchClock = std::chrono::steady_clock;

constexpr int kPoll = 100;   // ms between two looks at the files
constexpr int kSettle = 50;  // ms without a change: whoever saves has done
// Some editors empty a file before they fill it.
constexpr std::chrono::milliseconds kStaysEmpty(500);
// An editor that puts another file in the place of this one takes less.
constexpr std::chrono::milliseconds kStaysAway(1000);
constexpr int kAroundScreen = 4;  // lines: the bar, the file, the keys, and one to spare

// ---- Signals between two attempts; during one the program that runs has them (process.hpp) ----

volatile sig_atomic_t watch_stop = 0;
volatile sig_atomic_t watch_goes_on = 0;

class WatchSignals {
 public:
  WatchSignals() {
    watch_stop = 0;
    struct sigaction action = {};
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      action.sa_handler = remember;
      sigaction(kSignals[i], &action, &before_[i]);
      // nohup: what is ignored stays ignored.
      if (before_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  ~WatchSignals() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  WatchSignals(const WatchSignals&) = delete;
  WatchSignals& operator=(const WatchSignals&) = delete;

 private:
  static void remember(int signal) {
    if (signal == SIGCONT) {
      watch_goes_on = 1;
    } else {
      watch_stop = signal;
    }
  }

  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGCONT};
  struct sigaction before_[std::size(kSignals)] = {};
};

// ---- What is saved ----

struct FileState {
  bool there = false;
  ino_t inode = 0;
  long long seconds = 0;
  long nanoseconds = 0;
  off_t size = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const fs::path& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) return {};
  return {true, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size};
}

struct Saved {
  FileState source;
  FileState predictions;
  FileState start;  // which some edit by mistake
  bool operator==(const Saved&) const = default;
};

std::string clock_of(long long seconds) {
  const std::time_t time = seconds;
  std::tm parts = {};
  localtime_r(&time, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

// As many lines, and so much of each, as the terminal has room for. Colours take none.
std::string fitted(const std::string& text, int most_lines, int width) {
  std::string broken;  // long lines, between words
  std::istringstream whole(text);
  for (std::string line; std::getline(whole, line);) {
    TableOptions options;
    options.width = line.find('\033') == std::string::npos ? width : 0;
    broken += wrapped(line, options, "    ") + "\n";
  }
  std::string shown;
  std::istringstream lines(broken);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (++count == most_lines && lines.peek() != EOF) return shown + "...\n";
    int letters = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '\033') {
        const std::size_t end = line.find('m', at);
        if (end == std::string::npos) break;
        shown += line.substr(at, end - at + 1);
        at = end;
        continue;
      }
      const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
      letters += begins ? 1 : 0;
      if (width <= 0 || letters <= width) shown += line[at];
    }
    shown += '\n';
  }
  return shown;
}

class Watch {
 public:
  Watch(const BuildFolder& build, const WatchOptions& options)
      : build_(build),
        options_(options),
        exercises_(build.source()),
        progress_(exercises_.folder()),
        lock_(build.path() / "exercises") {}

  int run() {
    const std::map<std::string, ExerciseRecord> records = progress_.read();
    const Exercise* const first = options_.exercise.empty() ? first_not_passed(exercises_, records)
                                                            : &exercises_.find(options_.exercise);
    if (first == nullptr) return all_are_passed();
    make_files(*first);
    text_of_file(first->source());  // before anything is built for it
    backend_ = choose_exercise_backend(build_, options_.on);
    std::error_code failed;
    fs::create_directories(build_.path() / "exercises", failed);
    if (!lock_.take()) {
      throw WrongUse(
          "another ./halo watch is running here: it judges what you save; end it with q first, or "
          "use "
          "./halo try");
    }
    begin(*first);
    keys_.resume();
    for (;;) {
      if (watch_stop != 0) throw Interrupted{watch_stop};
      if (watch_goes_on != 0) {
        watch_goes_on = 0;
        keys_.resume();
        draw();
      }
      const char key = pending_ != 0 ? pending_ : keys_.next(kPoll);
      pending_ = 0;
      if (key != 0 && press(key)) return 0;
      if (look() && judge()) return 0;
    }
  }

 private:
  // ---- The exercise ----

  void make_files(const Exercise& exercise) {
    const std::string made = exercise.begin();
    if (made.empty()) return;
    notice_ = made;
    is_notice_new_ = true;
  }

  void begin(const Exercise& exercise) {
    exercise_ = &exercise;
    judged_.reset();
    screen_.clear();
    is_passed_ = false;
    keys_.pause();
    make_files(exercise);
    if (options_.ask) ask_predictions(exercise, progress_.read(exercise.name));
    if (watch_stop != 0) throw Interrupted{watch_stop};
    prepare_exercise(build_, exercise, backend_);
    keys_.resume();
    missing_since_ = WatchClock::now();
  }

  // To the next exercise; true: there is none.
  bool move_on() {
    const Exercise* const next = next_not_passed(exercises_, progress_.read(), *exercise_);
    if (next == nullptr && !is_passed_) {
      aside_ = "no other exercise is left: this is the last one\n";
      draw();
      return false;
    }
    if (next == nullptr) return true;
    begin(*next);
    return false;
  }

  int all_are_passed() const {
    std::printf("all exercises are passed: ./halo progress\n");
    return 0;
  }

  // ---- The files ----

  Saved saved() const {
    return {state_of(exercise_->source()), state_of(exercise_->predictions()),
            state_of(exercise_->start)};
  }

  // Whether there is something new, and whoever saved it has done.
  bool look() {
    const Saved now = saved();
    if (judged_ && now == *judged_) return false;
    const auto time = WatchClock::now();
    if (!now.source.there) {
      if (time - missing_since_ > kStaysAway && screen_ != kGone) {
        screen_ = kGone;
        judged_.reset();
        draw();
      }
      return false;
    }
    missing_since_ = time;
    if (!(now == seen_)) {
      seen_ = now;
      seen_since_ = time;
    }
    poll_briefly();
    if (!(saved() == now)) return false;
    return now.source.size > 0 || time - seen_since_ > kStaysEmpty;
  }

  void poll_briefly() {
    if (const char key = keys_.next(kSettle); key != 0) pending_ = key;
  }

  // ---- The verdict ----

  // True: nothing is left to watch.
  bool judge() {
    make_files(*exercise_);
    const Saved started = saved();
    judged_ = started;
    bool quit = false;
    JudgementOptions judging;
    judging.attempt.backend = backend_;
    judging.attempt.seed = options_.seed ? std::to_string(*options_.seed) : exercises_.seed();
    judging.attempt.limit = std::chrono::seconds(options_.time_limit);
    judging.attempt.overtaken = [&] {
      // Only a look: what is pressed waits until this is judged, but for the end.
      if (keys_.any() && pending_ == 0) pending_ = keys_.next(0);
      quit = quit || pending_ == 'q';
      const Saved now = saved();
      return quit || (now.source.there && !(now == started));
    };
    judging.table = table_options(options_.color, stdout);
    judging.table.source = build_.source().string();
    judging.lines = keys_.any() ? std::max(rows() - kAroundScreen, 8) : judging.lines;
    judging.watches = true;
    const auto start = WatchClock::now();
    bool passed = false;
    try {
      const Judgement judgement =
          judge_exercise(build_, exercises_, *exercise_, progress_, judging);
      if (judgement.overtaken) {
        if (!quit) judged_.reset();
        return false;  // and a `q` that waits is pressed next
      }
      screen_ = judgement.screen;
      passed = judgement.passed;
    } catch (const std::exception& error) {
      screen_ = std::string(error.what()) + "\n";
    }
    const std::chrono::duration<double> taken = WatchClock::now() - start;
    std::fflush(stderr);
    is_passed_ = passed;
    aside_.clear();
    if (!is_notice_new_) notice_.clear();
    is_notice_new_ = false;
    state_ = "saved " + clock_of(started.source.seconds) + ", judged in " +
             fixed(taken.count(), 1) + " s";
    draw();
    if (!is_passed_ || keys_.any()) return false;
    // Nobody can press a key: on to the next.
    if (!move_on()) {
      std::printf("next: %s  %s\n", exercise_->number.c_str(), exercise_->title.c_str());
      std::fflush(stdout);
      return false;
    }
    all_are_passed();
    return true;
  }

  // ---- The screen ----

  static int rows() {
    winsize size = {};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
  }

  std::string bar() const {
    try {
      return progress_bar(exercises_, progress_.read());
    } catch (const WrongUse& error) {
      return error.what();
    }
  }

  void draw() {
    const std::string head = "halo watch  " + bar() + "\n" + notice_ +
                             exercise_->path_of(exercise_->source()) +
                             (state_.empty() ? "" : "  " + state_) + "\n";
    if (!keys_.any()) {
      std::fputs((head + screen_ + "\n").c_str(), stdout);
      std::fflush(stdout);
      return;
    }
    const std::string body =
        fitted(aside_.empty() ? screen_ : aside_, std::max(rows() - kAroundScreen + 1, 8),
               terminal_width(stdout));
    const std::string keys =
        std::string(is_passed_ ? "passed: [n]ext" : "[n]ext") + "  [h]int  [s]how  [r]eset  [q]uit";
    std::fputs(("\033[H\033[2J" + head + body + keys).c_str(), stdout);
    std::fflush(stdout);
  }

  // True: it ends.
  bool press(char key) {
    const char before = last_key_;
    last_key_ = key;
    const Exercise& exercise = *exercise_;
    try {
      switch (key) {
        case 'q':
          std::fputs("\n", stdout);
          return true;
        case 'n':
          if (!is_passed_ && before != 'n') {
            aside_ = exercise.number + " is not passed yet: n again leaves it for later\n";
            break;
          }
          if (!move_on()) return false;
          std::fputs("\n", stdout);
          all_are_passed();
          return true;
        case 'h':
          set_aside(hint_for(exercise, progress_, false, terminal_width(stdout)));
          break;
        case 's':
          set_aside(solution_for(exercise, progress_, true));
          break;
        case 'r':
          if (before != 'r') {
            aside_ = "r again starts over; your file is kept beside it\n";
            break;
          }
          notice_ = begin_again(exercise).text;
          is_notice_new_ = true;
          aside_.clear();
          last_key_ = 0;
          break;
        default:
          aside_.clear();  // back to the verdict
      }
    } catch (const std::exception& error) {
      aside_ = std::string(error.what()) + "\n";
    }
    draw();
    return false;
  }

  static constexpr const char* kGone = "the file is gone: waiting for it (r starts over)\n";

  // It is drawn at once.
  void set_aside(const Help& help) { aside_ = help.text + (help.note ? help.note() : ""); }

  const BuildFolder& build_;
  const WatchOptions& options_;
  const Exercises exercises_;
  const ProgressFile progress_;
  FolderLock lock_;
  std::string backend_;
  WatchSignals signals_;
  Keys keys_;  // behind the signals: the terminal is itself again before they are

  const Exercise* exercise_ = nullptr;
  std::optional<Saved> judged_;
  Saved seen_;
  WatchClock::time_point seen_since_;
  WatchClock::time_point missing_since_;
  bool is_passed_ = false;
  std::string screen_;  // the verdict
  std::string aside_;   // what was asked for by a key, in its place
  std::string state_;   // "saved 14:02:11, judged in 1.9 s"
  std::string notice_;  // which files were made, or what a reset has done; stays for one verdict
  bool is_notice_new_ = false;
  char pending_ = 0;  // a key that has not been pressed, as it were
  char last_key_ = 0;
};

}  // namespace

int run_watch(const BuildFolder& build, const WatchOptions& options) {
  return Watch(build, options).run();
}

}  // namespace halo
