#include "tests/cli/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"

namespace halo::test {

Terminal::Terminal(const std::vector<std::string>& command) {
  master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(master_ >= 0);
  REQUIRE(grantpt(master_) == 0);
  REQUIRE(unlockpt(master_) == 0);
  slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(slave_ >= 0);
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = 80;
  ioctl(master_, TIOCSWINSZ, &size);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  child_ = fork();
  if (child_ == 0) {
    setsid();
    ioctl(slave_, TIOCSCTTY, 0);
    for (const int stream : {0, 1, 2}) dup2(slave_, stream);
    unsetenv("COLUMNS");
    setenv("TERM", "xterm", 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  REQUIRE(child_ > 0);
}

Terminal::~Terminal() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(master_);
  close(slave_);
}

bool Terminal::read_some(int milliseconds) {
  pollfd polled = {master_, POLLIN, 0};
  if (poll(&polled, 1, milliseconds) <= 0) return false;
  std::array<char, 4096> buffer;
  const ssize_t n = read(master_, buffer.data(), buffer.size());
  if (n > 0) written_.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

std::string Terminal::screen() const {
  const std::string clear = "\033[2J";
  const std::size_t last = written_.rfind(clear);
  const std::string raw =
      last == std::string::npos ? written_ : written_.substr(last + clear.size());
  std::string text;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] == '\033' && at + 1 < raw.size() && raw[at + 1] == '[') {
      while (at < raw.size() && std::isalpha(static_cast<unsigned char>(raw[at])) == 0) ++at;
    } else if (raw[at] != '\r') {
      text += raw[at];
    }
  }
  return text;
}

bool Terminal::is_asleep() const {
  const std::string status = read_file("/proc/" + std::to_string(child_) + "/stat");
  const std::size_t state = status.rfind(") ");
  // One that has ended writes no more either.
  return state == std::string::npos || status[state + 2] == 'S' || status[state + 2] == 'Z';
}

std::string Terminal::wait_for(const std::string& text, const std::string& on_screen) {
  wait_until("the terminal shows \"" + text + "\" and \"" + on_screen + "\"", [&] {
    read_some(50);
    return written_.find(text, from_) != std::string::npos &&
           screen().find(on_screen) != std::string::npos;
  });
  // The rest of the screen.
  for (int quiet = 0; quiet < 5; ++quiet) {
    if (read_some(20) || !is_asleep()) quiet = -1;
  }
  from_ = written_.size();
  return screen();
}

void Terminal::press(const std::string& keys) {
  REQUIRE(write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

void Terminal::signal(int number) { kill(child_, number); }

int Terminal::end() {
  int status = 0;
  wait_until("the program on the terminal ends", [&] {
    read_some(20);
    return waitpid(child_, &status, WNOHANG) != 0;
  });
  child_ = -1;
  while (read_some(50)) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool Terminal::is_as_before() const {
  termios now = {};
  return tcgetattr(slave_, &now) == 0 && (now.c_lflag & ICANON) != 0 && (now.c_lflag & ECHO) != 0;
}

}  // namespace halo::test
