#include "common/cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace halo {
namespace {

volatile sig_atomic_t stop_signal = 0;

void remember_signal(int signal) { stop_signal = signal; }

// Takes SIGINT and SIGTERM while a program runs, so that temporary files are removed afterwards.
class StopSignals {
 public:
  StopSignals() {
    stop_signal = 0;
    struct sigaction action = {};
    action.sa_handler = remember_signal;
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction terminate_ = {};
};

std::runtime_error system_error(const char* what) {
  return std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

struct Pipe {
  Pipe() {
    if (pipe2(end, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int which) {
    if (end[which] >= 0) close(end[which]);
    end[which] = -1;
  }
  int end[2] = {-1, -1};
};

}  // namespace

Ended run_program(const std::vector<std::string>& command,
                  const std::function<void(const std::string& out)>& tick) {
  Ended ended;
  Pipe out;
  Pipe err;
  Pipe failure;  // carries errno if exec fails; closed by a successful exec
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  StopSignals signals;
  const pid_t child = fork();
  if (child < 0) throw system_error("cannot start a process");
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(out.end[1], STDOUT_FILENO);
    dup2(err.end[1], STDERR_FILENO);
    execvp(argv[0], argv.data());
    const int code = errno;
    if (write(failure.end[1], &code, sizeof code) < 0) _exit(126);
    _exit(127);
  }
  out.close_end(1);
  err.close_end(1);
  failure.close_end(1);

  bool told = false;
  const auto forward_stop = [&] {
    if (stop_signal != 0 && !told) {
      kill(child, stop_signal);
      told = true;
    }
  };
  std::array<pollfd, 2> ends = {pollfd{out.end[0], POLLIN, 0}, pollfd{err.end[0], POLLIN, 0}};
  std::array<std::string*, 2> texts = {&ended.out, &ended.err};
  std::array<char, 65536> buffer;
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const int ready = poll(ends.data(), ends.size(), 100);
    forward_stop();
    if (ready > 0) {
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].fd < 0 || ends[i].revents == 0) continue;
        const ssize_t n = read(ends[i].fd, buffer.data(), buffer.size());
        if (n > 0) {
          texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
        } else if (n == 0 || errno != EINTR) {
          ends[i].fd = -1;  // poll ignores it from here on
        }
      }
    }
    if (tick) tick(ended.out);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) forward_stop();
  if (stop_signal != 0) throw Interrupted{stop_signal};

  int exec_errno = 0;
  if (read(failure.end[0], &exec_errno, sizeof exec_errno) == sizeof exec_errno) {
    ended.err = "cannot run " + command[0] + ": " + std::strerror(exec_errno);
    return ended;
  }
  ended.started = true;
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
  } else {
    ended.status = WEXITSTATUS(status);
  }
  return ended;
}

std::string how_it_ended(const Ended& ended) {
  if (!ended.started) return ended.err;
  if (ended.signal != 0) {
    return "signal " + std::to_string(ended.signal) + " (" + strsignal(ended.signal) + ")";
  }
  return "exit status " + std::to_string(ended.status);
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

}  // namespace halo
