#include "common/cli/keys.hpp"

#include <poll.h>
#include <unistd.h>

namespace halo {

Keys::Keys() {
  // In the background a program that changed the terminal would be stopped.
  is_terminal_ = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
                 tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &before_) == 0;
  resume();
}

Keys::~Keys() { pause(); }

void Keys::pause() {
  if (is_terminal_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

void Keys::resume() {
  if (!is_terminal_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

char Keys::next(int milliseconds) {
  if (!is_terminal_ || has_gone_) {
    poll(nullptr, 0, milliseconds);
    return 0;
  }
  pollfd polled = {STDIN_FILENO, POLLIN, 0};
  if (poll(&polled, 1, milliseconds) <= 0) return 0;
  char key = 0;
  // The terminal has gone: nobody will ever press a key again.
  if (::read(STDIN_FILENO, &key, 1) <= 0) has_gone_ = true;
  return key;
}

}  // namespace halo
