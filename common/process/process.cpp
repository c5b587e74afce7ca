#include "common/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <system_error>

#include "common/report/row_stream.hpp"

namespace halo {
namespace {

volatile sig_atomic_t stop_signal = 0;

void remember_signal(int signal) { stop_signal = signal; }

// These are taken while any program runs, so that it is ended and what it said is not lost. (SIGHUP: the
// terminal was closed.)
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};
// How long a group of programs may take to end by itself.
constexpr std::chrono::seconds kGrace(2);
struct sigaction before[std::size(kStopSignals)] = {};
int programs_running = 0;

void take_stop_signals() {
  if (programs_running++ > 0) return;
  stop_signal = 0;
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i) {
    sigaction(kStopSignals[i], &action, &before[i]);
    // nohup: what is ignored stays ignored.
    if (before[i].sa_handler == SIG_IGN) sigaction(kStopSignals[i], &before[i], nullptr);
  }
}

void release_stop_signals() {
  if (--programs_running > 0) return;
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i) {
    sigaction(kStopSignals[i], &before[i], nullptr);
  }
}

std::system_error system_error(const char* what) {
  return std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  Pipe() {
    if (pipe2(end, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  }
  ~Pipe() {
    for (const int one : end) {
      if (one >= 0) close(one);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  // The end to read from, which is the caller's to close.
  int keep() {
    const int kept = end[0];
    end[0] = -1;
    return kept;
  }
  int end[2] = {-1, -1};
};

// Where the program finds its pipe: the first descriptor behind the usual three.
constexpr int kStream = 3;

[[noreturn]] void become(const std::vector<char*>& argv, int out, int err, int told, int failure,
                         pid_t parent, bool group) {
  if (group) setpgid(0, 0);
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i) {
    if (before[i].sa_handler != SIG_IGN) signal(kStopSignals[i], SIG_DFL);
  }
  // Nothing outlives the command, even if it is killed.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(126);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (told >= 0) {
    // The other pipes stand behind it, whatever is closed here.
    if (failure == kStream) failure = fcntl(failure, F_DUPFD_CLOEXEC, kStream + 1);
    if (told == kStream) {
      fcntl(told, F_SETFD, 0);
    } else {
      dup2(told, kStream);
    }
    setenv(kStreamVariable, std::to_string(kStream).c_str(), 1);
  } else {
    unsetenv(kStreamVariable);
  }
  execvp(argv[0], argv.data());
  const int code = errno;
  if (write(failure, &code, sizeof code) < 0) _exit(126);
  _exit(127);
}

}  // namespace

Running::Running(const std::vector<std::string>& command, Listener listener, Alone alone)
    : name_(command[0]), listener_(std::move(listener)), has_group_(alone == Alone::no) {
  Pipe out;
  Pipe err;
  Pipe told;
  Pipe failure;
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  take_stop_signals();
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ < 0) {
    release_stop_signals();
    throw system_error("cannot start a process");
  }
  if (child_ == 0) {
    become(argv, out.end[1], err.end[1], listener_ ? told.end[1] : -1, failure.end[1], parent,
           has_group_);
  }
  // Here and there: whoever comes first.
  if (has_group_) setpgid(child_, child_);
  ends_[kOut] = out.keep();
  ends_[kErr] = err.keep();
  if (listener_) ends_[kTold] = told.keep();
  failure_ = failure.keep();
}

Running::~Running() {
  if (!has_ended_) {
    pass_on(SIGTERM);
    if (has_group_) {
      // Its number is its own until it is waited for, so nobody else's group is meant.
      const auto start = std::chrono::steady_clock::now();
      siginfo_t gone = {};
      while (waitid(P_PID, static_cast<id_t>(child_), &gone, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             gone.si_pid == 0 && std::chrono::steady_clock::now() - start < kGrace) {
        usleep(10'000);
      }
      pass_on(SIGKILL);
    }
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    release_stop_signals();
  }
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
  if (failure_ >= 0) close(failure_);
}

void Running::end() {
  if (!has_ended_) pass_on(SIGKILL);
}

void Running::pass_on(int signal) { kill(has_group_ ? -child_ : child_, signal); }

void Running::read_end(int which) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(ends_[which], buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) {
    close(ends_[which]);
    ends_[which] = -1;
    if (which == kTold && !told_.empty()) listener_(told_, false);
    return;
  }
  const std::string_view text(buffer.data(), static_cast<std::size_t>(n));
  if (which != kTold) {
    (which == kOut ? ended_.out : ended_.err) += text;
    return;
  }
  told_ += text;
  std::size_t at = 0;
  for (std::size_t end; (end = told_.find('\n', at)) != std::string::npos; at = end + 1) {
    listener_(told_.substr(at, end - at), true);
  }
  told_.erase(0, at);
}

// All its pipes are closed: it has ended, or is about to.
void Running::finish() {
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    if (stop_signal != 0) pass_on(stop_signal);
  }
  has_ended_ = true;
  release_stop_signals();
  int exec_errno = 0;
  if (::read(failure_, &exec_errno, sizeof exec_errno) == sizeof exec_errno) {
    ended_.err = "cannot run " + name_ + ": " + std::strerror(exec_errno);
    return;
  }
  ended_.started = true;
  if (WIFSIGNALED(status)) {
    ended_.signal = WTERMSIG(status);
  } else {
    ended_.status = WEXITSTATUS(status);
  }
}

void watch(const std::vector<Running*>& programs) {
  const auto once = [&](int milliseconds) {
    std::vector<pollfd> polled;
    std::vector<std::pair<Running*, int>> of;
    for (Running* program : programs) {
      if (program == nullptr || program->has_ended_) continue;
      for (int which = 0; which < Running::kEnds; ++which) {
        if (program->ends_[which] < 0) continue;
        polled.push_back({program->ends_[which], POLLIN, 0});
        of.emplace_back(program, which);
      }
    }
    if (of.empty()) return false;
    if (poll(polled.data(), polled.size(), milliseconds) > 0) {
      for (std::size_t i = 0; i < polled.size(); ++i) {
        if (polled[i].revents != 0) of[i].first->read_end(of[i].second);
      }
    }
    for (Running* program : programs) {
      if (program == nullptr || program->has_ended_) continue;
      bool open = false;
      for (const int end : program->ends_) open |= end >= 0;
      if (!open) program->finish();
    }
    return true;
  };
  once(100);
  if (stop_signal == 0) return;
  const int signal = stop_signal;
  for (Running* program : programs) {
    if (program != nullptr && !program->has_ended_) program->pass_on(signal);
  }
  // What a student wrote, or a shell's job in the background, may not care.
  const auto start = std::chrono::steady_clock::now();
  while (once(100)) {
    if (std::chrono::steady_clock::now() - start < kGrace) continue;
    for (Running* program : programs) {
      if (program != nullptr && program->has_group_) program->end();
    }
  }
  throw Interrupted{signal};
}

Ended run_program(const std::vector<std::string>& command,
                  const std::function<void(const std::string& out)>& tick) {
  Running program(command);
  while (!program.has_ended()) {
    watch({&program});
    if (tick) tick(program.ended().out);
  }
  return program.ended();
}

std::string how_it_ended(const Ended& ended) {
  if (!ended.started) return ended.err;
  if (ended.signal != 0) {
    return "signal " + std::to_string(ended.signal) + " (" + strsignal(ended.signal) + ")";
  }
  return "exit status " + std::to_string(ended.status);
}

std::filesystem::path on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path at = std::filesystem::path(folder) / program;
    if (access(at.c_str(), X_OK) == 0) return at;
  }
  return {};
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

}  // namespace halo
